import type { z } from "zod";
import { lazySchema } from "../../events/zod.ts";
import { type FoldersFor, foldersOf } from "../sandboxes/thread-folders.ts";
import { listUploads } from "../sandboxes/uploaded-files.ts";
import { defineTool, type ToolDefinition } from "./define-tool.ts";

const defaultResults = 20;
const maxResults = 100;

const schema = lazySchema((z) =>
  z.object({
    max_results: z
      .number()
      .int()
      .default(defaultResults)
      .describe(`Files to list, newest first; 1 to ${maxResults}`),
  }),
);

/**
 * The tool `list_uploaded_files`: files that the user uploaded with earlier messages, newest first, as JSON
 * `{ files: [{ filename, size, path, extension }], total, truncated }`.
 *
 * @param options.folders the thread's host folders; default: below the store's folder
 * @example
 * createAgent({ model, middleware: [uploadsMiddleware()] }); // brings the tool
 */
export function listUploadedFilesTool(
  options: { readonly folders?: FoldersFor } = {},
): ToolDefinition<z.infer<ReturnType<typeof schema>>> {
  const { folders = foldersOf } = options;
  return defineTool({
    name: "list_uploaded_files",
    description: "Lists files that the user uploaded with earlier messages, newest first.",
    schema: schema(),
    idempotent: true,
    async run({ max_results }, runtime) {
      const { uploads_path } = folders(runtime, runtime.state);
      const current = currentNames(runtime.state.uploaded_files);
      const earlier = (await listUploads(uploads_path)).filter(({ filename }) => !current.has(filename));
      const shown = earlier.slice(0, Math.min(Math.max(max_results, 1), maxResults));
      const files = shown.map(({ filename, size, path, extension }) => ({ filename, size, path, extension }));
      return {
        content: JSON.stringify({ files, total: earlier.length, truncated: files.length < earlier.length }),
      };
    },
  });
}

/** Names of the current message's files: the model was told about them already. */
function currentNames(uploaded: unknown): ReadonlySet<unknown> {
  return new Set(
    Array.isArray(uploaded) ? uploaded.map((file: { filename?: unknown } | null) => file?.filename) : [],
  );
}

import type { z } from "zod";
import { lazySchema } from "../../events/zod.ts";
import { virtualWorkspace } from "../sandboxes/virtual-path.ts";
import { defineTool, type ToolDefinition } from "./define-tool.ts";
import { type FileToolOptions, reportingFileErrors, toolSandbox } from "./tool-sandbox.ts";

const defaultDepth = 2;
const maxLines = 1_000;

const schema = lazySchema((z) =>
  z.object({
    description: z.string().optional().describe("Why you list this folder, in a few words"),
    path: z.string().default(virtualWorkspace).describe("Folder, like /mnt/user-data/workspace"),
    depth: z.number().int().min(1).max(10).default(defaultDepth).describe("Levels to list"),
  }),
);

/**
 * The tool `ls`: entries of a folder, one a line, relative to it, folders with a slash at the end.
 *
 * @example
 * createAgent({ model, tools: [lsTool()], middleware: [sandboxMiddleware()] });
 */
export function lsTool(options: FileToolOptions = {}): ToolDefinition<z.infer<ReturnType<typeof schema>>> {
  return defineTool({
    name: "ls",
    description: "Lists the files and folders in a folder, two levels deep unless told otherwise.",
    schema: schema(),
    idempotent: true,
    run: ({ path, depth }, runtime) =>
      reportingFileErrors(async () => {
        const sandbox = await toolSandbox(runtime, options);
        const entries = await sandbox.list(path, { depth });
        if (entries.length === 0) return "(empty)";
        const shown = entries.slice(0, maxLines);
        const rest = entries.length - shown.length;
        return [...shown, ...(rest > 0 ? [`(${rest} more entries: list a folder in it)`] : [])].join("\n");
      }),
  });
}

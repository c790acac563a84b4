import type { z } from "zod";
import { ArtifactsPresented } from "../../events/artifacts.ts";
import { lazySchema } from "../../events/zod.ts";
import { PathNotAllowedError } from "../sandboxes/sandbox.ts";
import { virtualOutputs } from "../sandboxes/virtual-path.ts";
import { defineTool, type ToolDefinition } from "./define-tool.ts";
import { type FileToolOptions, toolError, toolSandbox } from "./tool-sandbox.ts";

const schema = lazySchema((z) =>
  z.object({
    filepaths: z
      .array(z.string())
      .min(1)
      .describe("Files in /mnt/user-data/outputs, in the order to show them"),
  }),
);

/**
 * The tool `present_files`: shows output files to the user, all of them or none, and records `ArtifactsPresented`.
 * Takes virtual paths and host paths inside the thread's outputs; links and dots are resolved first.
 *
 * @example
 * createAgent({ model, middleware: [sandboxMiddleware(), artifactsMiddleware()] }); // brings the tool
 */
export function presentFilesTool(
  options: FileToolOptions = {},
): ToolDefinition<z.infer<ReturnType<typeof schema>>> {
  return defineTool({
    name: "present_files",
    description:
      "Shows finished files to the user. Only files in /mnt/user-data/outputs can be shown: move or copy others there first.",
    schema: schema(),
    idempotent: true,
    async run({ filepaths }, runtime) {
      const sandbox = await toolSandbox(runtime, options);
      const paths: string[] = [];
      for (const given of filepaths) {
        const path = await sandbox.resolve(given).catch((error: unknown) => {
          if (error instanceof PathNotAllowedError) return error;
          throw error;
        });
        if (path instanceof PathNotAllowedError) return refused(path.path);
        if (!path.startsWith(`${virtualOutputs}/`)) return refused(path);
        paths.push(path);
      }
      return {
        content: `Presented to the user:\n${paths.join("\n")}`,
        events: [ArtifactsPresented({ paths })],
      };
    },
  });
}

function refused(path: string) {
  return toolError(
    `"${path}" is not in ${virtualOutputs}, so nothing was presented. Copy the file there and present the copy.`,
  );
}

import type { z } from "zod";
import { lazySchema } from "../../events/zod.ts";
import { defineTool, type ToolDefinition } from "./define-tool.ts";
import { withFileLock } from "./file-lock.ts";
import { type FileToolOptions, reportingFileErrors, toolSandbox } from "./tool-sandbox.ts";

const schema = lazySchema((z) =>
  z.object({
    description: z.string().optional().describe("Why you write this file, in a few words"),
    path: z.string().describe("File, like /mnt/user-data/outputs/report.md; its folders are made"),
    content: z.string().describe("The whole text of the file, or what is added to it"),
    append: z.boolean().default(false).describe("True: add to the end; false: replace the file"),
  }),
);

/**
 * The tool `write_file`: writes a text file, or adds to its end.
 *
 * @example
 * createAgent({ model, tools: [writeFileTool()], middleware: [sandboxMiddleware()] });
 */
export function writeFileTool(
  options: FileToolOptions = {},
): ToolDefinition<z.infer<ReturnType<typeof schema>>> {
  return defineTool({
    name: "write_file",
    description: "Writes a text file. It replaces the file that is there, unless append is true.",
    schema: schema(),
    run: ({ path, content, append }, runtime) =>
      reportingFileErrors(async () => {
        const sandbox = await toolSandbox(runtime, options);
        return withFileLock(sandbox, path, async () => {
          const there = append ? await sandbox.stat(path) : undefined;
          const before = there ? Buffer.from(await sandbox.readFile(path)) : Buffer.alloc(0);
          await sandbox.writeFile(path, Buffer.concat([before, Buffer.from(content)]));
          const size = Buffer.byteLength(content);
          return append ? `OK: added ${size} bytes to ${path}` : `OK: wrote ${size} bytes to ${path}`;
        });
      }),
  });
}

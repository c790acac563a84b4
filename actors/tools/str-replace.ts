import type { z } from "zod";
import { lazySchema } from "../../events/zod.ts";
import { defineTool, type ToolDefinition } from "./define-tool.ts";
import { withFileLock } from "./file-lock.ts";
import { type FileToolOptions, reportingFileErrors, toolError, toolSandbox } from "./tool-sandbox.ts";

const schema = lazySchema((z) =>
  z.object({
    description: z.string().optional().describe("What you change, in a few words"),
    path: z.string().describe("File, like /mnt/user-data/workspace/main.py"),
    old_str: z.string().min(1).describe("Text to replace, exactly as it stands in the file"),
    new_str: z.string().describe("Text to put in its place"),
    replace_all: z
      .boolean()
      .default(false)
      .describe("True: replace every occurrence; false: there must be exactly one"),
  }),
);

/**
 * The tool `str_replace`: replaces a text that stands exactly once in a file, or everywhere with `replace_all`.
 *
 * @example
 * createAgent({ model, tools: [strReplaceTool()], middleware: [sandboxMiddleware()] });
 */
export function strReplaceTool(
  options: FileToolOptions = {},
): ToolDefinition<z.infer<ReturnType<typeof schema>>> {
  return defineTool({
    name: "str_replace",
    description:
      "Replaces text in a file. The old text must stand in it exactly once, unless replace_all is true.",
    schema: schema(),
    run: ({ path, old_str, new_str, replace_all }, runtime) =>
      reportingFileErrors(async () => {
        const sandbox = await toolSandbox(runtime, options);
        return withFileLock(sandbox, path, async () => {
          const parts = new TextDecoder().decode(await sandbox.readFile(path)).split(old_str);
          const found = parts.length - 1;
          if (found === 0)
            return toolError(`old_str does not stand in ${path}. Read the file and copy it exactly.`);
          if (found > 1 && !replace_all) {
            return toolError(
              `old_str stands ${found} times in ${path}. Give more text around it, or set replace_all.`,
            );
          }
          await sandbox.writeFile(path, parts.join(new_str));
          return `OK: replaced ${found === 1 ? "1 occurrence" : `${found} occurrences`} in ${path}`;
        });
      }),
  });
}

import { bashTool } from "./bash.ts";
import type { ToolDefinition } from "./define-tool.ts";
import { lsTool } from "./ls.ts";
import { readFileTool } from "./read-file.ts";
import { strReplaceTool } from "./str-replace.ts";
import type { FileToolOptions } from "./tool-sandbox.ts";
import { writeFileTool } from "./write-file.ts";

/**
 * The tools for files and commands: `ls`, `read_file`, `write_file`, `str_replace`, `bash`. (`present_files` comes with
 * `artifactsMiddleware`.)
 *
 * @example
 * createAgent({ model, tools: fileTools(), middleware: [threadDataMiddleware(), sandboxMiddleware()] });
 */
// biome-ignore lint/suspicious/noExplicitAny: tools of different arguments stand in one list
export function fileTools(options: FileToolOptions = {}): readonly ToolDefinition<any>[] {
  return [
    lsTool(options),
    readFileTool(options),
    writeFileTool(options),
    strReplaceTool(options),
    bashTool(options),
  ];
}

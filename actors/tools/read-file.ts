import type { z } from "zod";
import { lazySchema } from "../../events/zod.ts";
import { defineTool, type ToolDefinition } from "./define-tool.ts";
import { type FileToolOptions, reportingFileErrors, toolError, toolSandbox } from "./tool-sandbox.ts";

const defaultMaxCharacters = 50_000;
/** Bytes in which a NUL means that the file is no text. */
const sniffedBytes = 8_192;

const schema = lazySchema((z) =>
  z.object({
    description: z.string().optional().describe("Why you read this file, in a few words"),
    path: z.string().describe("File, like /mnt/user-data/workspace/notes.md"),
    start_line: z.number().int().min(1).optional().describe("First line to read, counted from 1"),
    end_line: z.number().int().min(1).optional().describe("Last line to read, included"),
  }),
);

export interface ReadFileOptions extends FileToolOptions {
  /** Characters of one result; what is longer is cut at a line and says how to read on. Default 50,000. */
  readonly maxCharacters?: number;
}

/**
 * The tool `read_file`: the text of a file, or of a range of its lines.
 *
 * @example
 * createAgent({ model, tools: [readFileTool({ maxCharacters: 20_000 })], middleware: [sandboxMiddleware()] });
 */
export function readFileTool(
  options: ReadFileOptions = {},
): ToolDefinition<z.infer<ReturnType<typeof schema>>> {
  const maxCharacters = options.maxCharacters ?? defaultMaxCharacters;
  return defineTool({
    name: "read_file",
    description: "Reads a text file, or a range of its lines.",
    schema: schema(),
    idempotent: true,
    run: ({ path, start_line, end_line }, runtime) =>
      reportingFileErrors(async () => {
        const sandbox = await toolSandbox(runtime, options);
        const bytes = await sandbox.readFile(path);
        if (bytes.subarray(0, sniffedBytes).includes(0)) {
          return toolError(`"${path}" is not a text file. Use a command to look into it.`);
        }
        const text = new TextDecoder().decode(bytes);
        if (text === "") return "(empty)";
        const lines = text.split("\n");
        const total = lines.at(-1) === "" ? lines.length - 1 : lines.length;
        const first = start_line ?? 1;
        const last = Math.min(end_line ?? total, total);
        if (first > total) return toolError(`"${path}" has ${total} lines; line ${first} is beyond its end.`);
        if (first > last) return toolError(`start_line ${first} is after end_line ${end_line}.`);
        const whole = start_line === undefined && end_line === undefined;
        const wanted = whole ? text : lines.slice(first - 1, last).join("\n");
        return cut(wanted, first, total, maxCharacters);
      }),
  });
}

function cut(text: string, first: number, total: number, maxCharacters: number): string {
  if (text.length <= maxCharacters) return text;
  const edge = text.lastIndexOf("\n", maxCharacters);
  if (edge <= 0) {
    const shown = text.slice(0, maxCharacters).replace(/[\ud800-\udbff]$/, "");
    return `${shown}\n(Cut: line ${first} is longer than ${maxCharacters} characters. Use a command to see its rest.)`;
  }
  const shown = text.slice(0, edge);
  const last = first + shown.split("\n").length - 1;
  return `${shown}\n(Cut after line ${last} of ${total}: read on with start_line ${last + 1}.)`;
}

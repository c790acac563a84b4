import type { z } from "zod";
import { lazySchema } from "../../events/zod.ts";
import type { ExecResult } from "../sandboxes/sandbox.ts";
import { defineTool, type ToolDefinition, type ToolResult } from "./define-tool.ts";
import { type FileToolOptions, toolSandbox } from "./tool-sandbox.ts";

const schema = lazySchema((z) =>
  z.object({
    description: z.string().optional().describe("What the command does, in a few words"),
    command: z.string().min(1).describe("Shell command; it starts in /mnt/user-data/workspace"),
  }),
);

export interface BashOptions extends FileToolOptions {
  /** Milliseconds until a command is killed. Default: the sandbox's limit. */
  readonly timeoutMs?: number;
}

/**
 * The tool `bash`: runs a shell command in the thread's sandbox. A command that fails gives its output and exit code
 * as an error message; a cancelled run kills it.
 *
 * @example
 * createAgent({ model, tools: [bashTool({ timeoutMs: 30_000 })], middleware: [sandboxMiddleware()] });
 */
export function bashTool(options: BashOptions = {}): ToolDefinition<z.infer<ReturnType<typeof schema>>> {
  return defineTool({
    name: "bash",
    description:
      "Runs a shell command and gives its output. Each call is a new shell in /mnt/user-data/workspace; what it leaves in the background is ended.",
    schema: schema(),
    async run({ command }, runtime) {
      const sandbox = await toolSandbox(runtime, options);
      const { timeoutMs } = options;
      const result = await sandbox.exec(command, { signal: runtime.signal, ...(timeoutMs && { timeoutMs }) });
      return commandResult(result);
    },
  });
}

function commandResult({ stdout, stderr, exitCode, truncated }: ExecResult): ToolResult {
  const parts = [
    stdout.trimEnd(),
    stderr.trim() === "" ? "" : `stderr:\n${stderr.trimEnd()}`,
    truncated ? "(The output was longer and was cut.)" : "",
    exitCode === 0 ? "" : `Exit code: ${exitCode}`,
  ].filter((part) => part !== "");
  return {
    content: parts.length === 0 ? "(no output)" : parts.join("\n"),
    status: exitCode === 0 ? "success" : "error",
  };
}

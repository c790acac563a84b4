import { FileAccessError } from "../sandboxes/file-access-error.ts";
import { PathNotAllowedError, type Sandbox } from "../sandboxes/sandbox.ts";
import type { ToolResult, ToolRuntime } from "./define-tool.ts";

export interface FileToolOptions {
  /** Where the tools work. Default: the thread's sandbox, which `sandboxMiddleware` gives to tools. */
  readonly sandbox?: Sandbox | ((runtime: ToolRuntime) => Sandbox | Promise<Sandbox>);
}

/** A file tool was called, and the agent has no sandbox. */
export class NoSandboxError extends Error {
  override readonly name = "NoSandboxError";
  constructor() {
    super(
      "This tool needs a sandbox and the agent has none. Add sandboxMiddleware() to its middleware, or give the tool a sandbox.",
    );
  }
}

/**
 * The sandbox that a tool works in.
 *
 * @throws {NoSandboxError}
 */
export async function toolSandbox(runtime: ToolRuntime, options: FileToolOptions): Promise<Sandbox> {
  const given = options.sandbox ?? runtime.sandbox;
  if (!given) throw new NoSandboxError();
  return typeof given === "function" ? given(runtime) : given;
}

/** A result that tells the model what went wrong. */
export function toolError(content: string): ToolResult {
  return { content: `Error: ${content}`, status: "error" };
}

/** Runs a file tool; what the model can mend (a wrong path, a missing file) becomes its result. */
export async function reportingFileErrors<Result>(run: () => Promise<Result>): Promise<Result | ToolResult> {
  try {
    return await run();
  } catch (error) {
    if (error instanceof PathNotAllowedError || error instanceof FileAccessError)
      return toolError(error.message);
    throw error;
  }
}

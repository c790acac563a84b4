import { spawn } from "node:child_process";
import type { Writable } from "node:stream";
import type { ExecResult } from "./sandbox.ts";

/** Milliseconds that output may still arrive after the command itself has ended. */
const drainMs = 200;
/** Output is read and dropped up to so many times the limit; a command that goes on is killed. */
const runawayFactor = 64;

export interface ProcessRequest {
  readonly file: string;
  readonly args: readonly string[];
  readonly cwd?: string;
  /** Bytes that the program reads from file descriptor 3. */
  readonly fd3?: string;
  /** The whole environment: nothing is inherited. */
  readonly env: Readonly<Record<string, string>>;
  /** Milliseconds until the process and its children are killed. */
  readonly timeoutMs: number;
  /** Bytes of stdout and stderr together that are kept. */
  readonly maxOutputBytes: number;
  readonly signal?: AbortSignal | undefined;
}

/**
 * Runs a program in a process group of its own and kills the whole group at the time limit, on abort, when it writes
 * without end, and when it ends. Never rejects: a program that cannot start gives exit code 127.
 *
 * @example
 * await runProcess({ file: "/bin/sh", args: ["-c", "echo hi"], env: {}, timeoutMs: 1000, maxOutputBytes: 1e6 });
 */
export function runProcess(request: ProcessRequest): Promise<ExecResult> {
  const { file, args, cwd, env, timeoutMs, maxOutputBytes, signal } = request;
  if (signal?.aborted) return Promise.resolve(outcome("", "Cancelled before it started.", 130, false));

  return new Promise((resolve) => {
    const child = spawn(file, args, {
      ...(cwd && { cwd }),
      env,
      detached: true,
      stdio: ["ignore", "pipe", "pipe", ...(request.fd3 === undefined ? [] : ["pipe" as const])],
    });
    const kept = { stdout: [] as Buffer[], stderr: [] as Buffer[] };
    let bytes = 0;
    let ended: { readonly code: number; readonly note: string } | undefined;
    let drain: NodeJS.Timeout | undefined;

    const fd3 = child.stdio[3] as Writable | null | undefined;
    // A program that ends before it has read everything is no failure of ours.
    fd3?.on("error", () => {});
    fd3?.end(request.fd3);

    const killGroup = () => {
      if (child.pid === undefined) return;
      try {
        process.kill(-child.pid, "SIGKILL");
      } catch {
        // The group is gone already.
      }
    };
    const stop = (code: number, note: string) => {
      ended ??= { code, note };
      killGroup();
    };
    const onAbort = () => stop(130, "Cancelled.");
    const timer = setTimeout(() => stop(124, `Stopped after ${timeoutMs} ms (time limit).`), timeoutMs);
    signal?.addEventListener("abort", onAbort, { once: true });

    const keep = (name: "stdout" | "stderr") => (chunk: Buffer) => {
      const room = Math.max(0, maxOutputBytes - bytes);
      bytes += chunk.length;
      if (room > 0) kept[name].push(chunk.subarray(0, room));
      if (bytes > maxOutputBytes * runawayFactor) stop(137, "Killed: it wrote output without end.");
    };
    child.stdout?.on("data", keep("stdout"));
    child.stderr?.on("data", keep("stderr"));

    const finish = (code: number, note: string) => {
      clearTimeout(timer);
      clearTimeout(drain);
      signal?.removeEventListener("abort", onAbort);
      const stderr = textOf(kept.stderr);
      const notes = [stderr, note].filter((part) => part !== "").join(stderr.endsWith("\n") ? "" : "\n");
      resolve(outcome(textOf(kept.stdout), notes, code, bytes > maxOutputBytes));
    };
    child.on("error", (error: NodeJS.ErrnoException) => {
      finish(127, `${file} could not be started (${error.code ?? "unknown error"}).`);
    });
    child.on("exit", () => {
      // What it left running in the background must not hold the call open or outlive it.
      killGroup();
      drain = setTimeout(() => {
        child.stdout?.destroy();
        child.stderr?.destroy();
      }, drainMs);
    });
    child.on("close", (code, killedBy) => {
      if (ended) finish(ended.code, ended.note);
      else finish(code ?? 128 + (killedBy === "SIGTERM" ? 15 : 9), "");
    });
  });
}

function outcome(stdout: string, stderr: string, exitCode: number, truncated: boolean): ExecResult {
  return { stdout, stderr, exitCode, truncated };
}

/** UTF-8 text; a character that the limit cut in half is dropped. */
function textOf(chunks: readonly Buffer[]): string {
  return new TextDecoder().decode(Buffer.concat(chunks), { stream: true });
}

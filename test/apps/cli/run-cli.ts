import { type ChildProcess, spawn } from "node:child_process";
import { rmSync } from "node:fs";
import { mkdtemp, readdir, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { build } from "vite";
import { onTestFinished } from "vitest";

const root = fileURLToPath(new URL("../../..", import.meta.url));
let bundling: Promise<string> | undefined;

/**
 * The command line as one bundle with its lazy parts beside it, as it is shipped, built once for a test file. It lies
 * in `node_modules`, where it finds the packages.
 */
export function cliBundle(): Promise<string> {
  bundling ??= bundle();
  return bundling;
}

/** Takes away bundles of test processes that were ended before they could do so themselves. */
async function sweep(cache: string): Promise<void> {
  for (const name of await readdir(cache).catch(() => [])) {
    const pid = Number(/^threadfold-cli-(\d+)$/.exec(name)?.[1] ?? process.pid);
    if (pid !== process.pid && !isAlive(pid)) await rm(join(cache, name), { recursive: true, force: true });
  }
}

function isAlive(pid: number): boolean {
  try {
    return process.kill(pid, 0);
  } catch {
    return false;
  }
}

async function bundle(): Promise<string> {
  await sweep(join(root, "node_modules", ".cache"));
  const outdir = join(root, "node_modules", ".cache", `threadfold-cli-${process.pid}`);
  process.once("exit", () => rmSync(outdir, { recursive: true, force: true }));
  await build({
    configFile: false,
    root,
    logLevel: "error",
    build: { ssr: join(root, "apps/cli/main.ts"), outDir: outdir, target: "node20", minify: false },
  });
  return join(outdir, "main.js");
}

/** How a call of the command line ended. */
export interface CliResult {
  readonly code: number | null;
  readonly stdout: string;
  readonly stderr: string;
}

export interface CliOptions {
  readonly cwd: string;
  readonly env?: Readonly<Record<string, string>>;
  readonly input?: string;
  /** More arguments for Node itself. */
  readonly node?: readonly string[];
  /** Called with everything that came on stdout so far. */
  readonly onStdout?: (text: string, child: ChildProcess) => void;
  /** The same for stderr. */
  readonly onStderr?: (text: string) => void;
}

/** Variables that would change what the commands do. */
const unset = [
  "THREADFOLD_STORE",
  "THREADFOLD_MODEL",
  "THREADFOLD_AGENT",
  "OPENAI_API_KEY",
  "OPENAI_BASE_URL",
  "NO_COLOR",
  "FORCE_COLOR",
];

/** Runs the real command line in a process of its own. */
export async function cli(args: readonly string[], options: CliOptions): Promise<CliResult> {
  const env = { ...process.env, ...options.env };
  for (const name of unset) if (options.env?.[name] === undefined) delete env[name];
  const child = spawn(process.execPath, [...(options.node ?? []), await cliBundle(), ...args], {
    cwd: options.cwd,
    env,
  });
  let stdout = "";
  let stderr = "";
  child.stdout.setEncoding("utf8").on("data", (chunk: string) => {
    stdout += chunk;
    options.onStdout?.(stdout, child);
  });
  child.stderr.setEncoding("utf8").on("data", (chunk: string) => {
    stderr += chunk;
    options.onStderr?.(stderr);
  });
  child.stdin.on("error", () => undefined);
  child.stdin.end(options.input ?? "");
  const code = await new Promise<number | null>((resolve) => child.once("close", resolve));
  return { code, stdout, stderr };
}

/** An empty folder that is removed after the test. */
export async function emptyFolder(): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), "cli-"));
  onTestFinished(() => rm(folder, { recursive: true, force: true }));
  return folder;
}

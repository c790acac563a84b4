import { mkdtemp, rm, symlink } from "node:fs/promises";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import {
  bashArguments,
  type CommandLimits,
  commandEnvironment,
  defaultMaxOutputBytes,
  defaultTimeoutMs,
} from "./command-environment.ts";
import { type CommandRunner, createFolderProvider } from "./folder-provider.ts";
import { folderPairs, maskHostPaths, type PathPair } from "./mask-host-paths.ts";
import { realFolders } from "./resolve-virtual-path.ts";
import { runProcess } from "./run-process.ts";
import type { SandboxProvider, ThreadFolders } from "./sandbox.ts";
import { virtualAreas } from "./virtual-path.ts";

export interface LocalSandboxOptions extends CommandLimits {
  /** Variables that commands see besides the few that every program needs. */
  readonly env?: Readonly<Record<string, string>>;
}

/**
 * Sandboxes that are a folder per thread. Commands run as the user of this process, in the workspace, without its
 * environment; they are NOT isolated from the machine: choose bubblewrap where commands come from a model that you
 * do not trust.
 *
 * @example
 * sandboxMiddleware({ provider: localSandboxProvider({ timeoutMs: 30_000 }) });
 */
export function localSandboxProvider(options: LocalSandboxOptions = {}): SandboxProvider {
  return createFolderProvider({
    name: "local",
    isolated: false,
    openRunner: (folders) => openLocalRunner(folders, options),
  });
}

async function openLocalRunner(folders: ThreadFolders, options: LocalSandboxOptions): Promise<CommandRunner> {
  const {
    timeoutMs = defaultTimeoutMs,
    maxOutputBytes = defaultMaxOutputBytes,
    maxMemoryBytes = 0,
  } = options;
  const shell = await shellRoot(folders);
  const cwd = join(shell.root, "workspace");
  const env = commandEnvironment({
    home: cwd,
    path: process.env.PATH ?? "/usr/local/bin:/usr/bin:/bin",
    added: options.env,
  });
  const real = folderPairs(await realFolders(folders));
  const alias = folderPairs({
    workspace_path: cwd,
    uploads_path: join(shell.root, "uploads"),
    outputs_path: join(shell.root, "outputs"),
  });
  const aliases: readonly PathPair[] = [...real, ...alias];
  const mask = (text: string) => maskHostPaths(text, folders, aliases);

  return {
    async exec(command, execOptions = {}) {
      if (command.includes("\0"))
        return { stdout: "", stderr: "A command cannot hold NUL.", exitCode: 126, truncated: false };
      const result = await runProcess({
        file: "bash",
        args: bashArguments(toHostCommand(command, shell.root), maxMemoryBytes),
        cwd,
        env,
        timeoutMs: execOptions.timeoutMs ?? timeoutMs,
        maxOutputBytes,
        signal: execOptions.signal,
      });
      return { ...result, stdout: mask(result.stdout), stderr: mask(result.stderr) };
    },
    close: shell.close,
  };
}

/** A path that stands in any place of a shell command, quoted or not, as it is. */
const plainPath = /^[\w@%+=:,./-]+$/;

/**
 * The folder that stands for `/mnt/user-data` in commands. Where the real one cannot be written into a command as it
 * is (blanks, quotes) or the three folders lie apart, a temporary folder of links does.
 */
async function shellRoot(folders: ThreadFolders): Promise<{ root: string; close(): Promise<void> }> {
  const root = dirname(folders.workspace_path);
  const beside = virtualAreas.every((area) => folders[`${area}_path`] === join(root, area));
  if (beside && plainPath.test(root)) return { root, close: async () => {} };
  const alias = await mkdtemp(join(tmpdir(), "threadfold-"));
  await Promise.all(virtualAreas.map((area) => symlink(folders[`${area}_path`], join(alias, area))));
  return { root: alias, close: () => rm(alias, { recursive: true, force: true }) };
}

/** Puts the shell's root in place of `/mnt/user-data`, wherever it stands as a path of its own. */
function toHostCommand(command: string, root: string): string {
  return command.replace(/(?<![\w./-])\/mnt\/user-data(?![\w-]|\.\w)/g, () => root);
}

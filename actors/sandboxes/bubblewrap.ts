import {
  bashArguments,
  type CommandLimits,
  commandEnvironment,
  defaultMaxOutputBytes,
  defaultTimeoutMs,
} from "./command-environment.ts";
import { type CommandRunner, createFolderProvider } from "./folder-provider.ts";
import { maskHostPaths } from "./mask-host-paths.ts";
import { runProcess } from "./run-process.ts";
import type { SandboxProvider, ThreadFolders } from "./sandbox.ts";
import { virtualOutputs, virtualUploads, virtualWorkspace } from "./virtual-path.ts";

const defaultMaxMemoryBytes = 4 * 1024 ** 3;
const probeTimeoutMs = 10_000;

export interface BubblewrapOptions extends CommandLimits {
  /** True: commands reach the network. Default false: they have none. */
  readonly network?: boolean;
  /** Host paths that commands see, read-only, at the same place (tools outside of /usr, a shared data set). */
  readonly readOnlyPaths?: readonly string[];
  /** Variables that commands see besides the few that every program needs. */
  readonly env?: Readonly<Record<string, string>>;
  /** The program. Default `bwrap`. */
  readonly program?: string;
}

/** Whether bubblewrap can be used here, and if not, why. */
export type BubblewrapProbe =
  | { readonly works: true; readonly proc: boolean }
  | { readonly works: false; readonly missing: boolean; readonly reason: string };

/** Commands could not be isolated: bubblewrap is missing or may not be used here. */
export class BubblewrapUnavailableError extends Error {
  override readonly name = "BubblewrapUnavailableError";
  constructor(readonly reason: string) {
    super(
      `Commands cannot be isolated with bubblewrap: ${reason} Install it (apt-get install bubblewrap), allow user namespaces, or choose the local provider.`,
    );
  }
}

/** System folders that programs need; /proc of the host is never among them, for it shows other processes' environments. */
const systemFolders = ["/usr", "/bin", "/sbin", "/lib", "/lib32", "/lib64", "/libx32"];
const systemFiles = [
  "alternatives",
  "ld.so.cache",
  "ld.so.conf",
  "ld.so.conf.d",
  "localtime",
  "mime.types",
  "passwd",
  "group",
];
const networkFiles = [
  "resolv.conf",
  "hosts",
  "nsswitch.conf",
  "ssl",
  "ca-certificates",
  "pki",
  "services",
  "protocols",
];

function isolation(options: BubblewrapOptions, proc: boolean): string[] {
  const readOnly = (paths: readonly string[]) => paths.flatMap((path) => ["--ro-bind-try", path, path]);
  const etc = [...systemFiles, ...(options.network ? networkFiles : ["ssl", "nsswitch.conf"])];
  return [
    "--unshare-user",
    "--unshare-pid",
    "--unshare-ipc",
    "--unshare-uts",
    "--unshare-cgroup-try",
    ...(options.network ? [] : ["--unshare-net"]),
    "--die-with-parent",
    "--new-session",
    ...["--uid", "1000", "--gid", "1000", "--hostname", "sandbox"],
    ...readOnly(systemFolders),
    ...readOnly(etc.map((name) => `/etc/${name}`)),
    ...(proc ? ["--proc", "/proc"] : []),
    ...["--dev", "/dev", "--tmpfs", "/tmp"],
    ...readOnly(options.readOnlyPaths ?? []),
  ];
}

/**
 * Tries bubblewrap once with the options that will be used: containers often have the program, but not the right to
 * make namespaces.
 *
 * @example
 * const probe = await probeBubblewrap();
 * if (!probe.works) console.error(probe.reason);
 */
export async function probeBubblewrap(options: BubblewrapOptions = {}): Promise<BubblewrapProbe> {
  const program = options.program ?? "bwrap";
  let reason = "";
  for (const proc of [true, false]) {
    const result = await runProcess({
      file: program,
      fd3: isolation(options, proc).join("\0"),
      args: ["--args", "3", "bash", "-c", "exit 0"],
      env: commandEnvironment({ home: "/tmp", path: "/usr/local/bin:/usr/bin:/bin" }),
      timeoutMs: probeTimeoutMs,
      maxOutputBytes: 10_000,
    });
    if (result.exitCode === 0) return { works: true, proc };
    const missing = result.exitCode === 127 && result.stderr.includes("ENOENT");
    if (missing) return { works: false, missing, reason: `The program ${program} is not installed.` };
    reason ||= `${program} failed: ${result.stderr.trim().split("\n")[0] ?? ""}.`;
  }
  return { works: false, missing: false, reason };
}

/**
 * Sandboxes in which commands see only the thread's folders at `/mnt/user-data` and read-only system folders: own
 * process, IPC, host name and (unless `network`) network namespaces, limits of time, memory and output. They end with
 * this process.
 *
 * @throws {BubblewrapUnavailableError} on `acquire`, when bubblewrap does not work here
 * @example
 * sandboxMiddleware({ provider: bubblewrapSandboxProvider({ network: true }) });
 */
export function bubblewrapSandboxProvider(options: BubblewrapOptions = {}): SandboxProvider {
  let probe: Promise<BubblewrapProbe> | undefined;
  return createFolderProvider({
    name: "bubblewrap",
    isolated: true,
    async openRunner(folders) {
      probe ??= probeBubblewrap(options);
      const result = await probe;
      if (!result.works) throw new BubblewrapUnavailableError(result.reason);
      return bubblewrapRunner(folders, options, result.proc);
    },
  });
}

function bubblewrapRunner(folders: ThreadFolders, options: BubblewrapOptions, proc: boolean): CommandRunner {
  const { timeoutMs = defaultTimeoutMs, maxOutputBytes = defaultMaxOutputBytes } = options;
  const maxMemoryBytes = options.maxMemoryBytes ?? defaultMaxMemoryBytes;
  const env = commandEnvironment({
    home: virtualWorkspace,
    path: "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin",
    added: options.env,
  });
  const mounts = [
    ...["--bind", folders.workspace_path, virtualWorkspace],
    ...["--bind", folders.uploads_path, virtualUploads],
    ...["--bind", folders.outputs_path, virtualOutputs],
    ...["--chdir", virtualWorkspace],
  ];
  return {
    async exec(command, execOptions = {}) {
      if (command.includes("\0")) {
        return { stdout: "", stderr: "A command cannot hold NUL.", exitCode: 126, truncated: false };
      }
      const result = await runProcess({
        file: options.program ?? "bwrap",
        // Host paths stay out of the command line, which commands can read in /proc/1/cmdline.
        fd3: [...isolation(options, proc), ...mounts].join("\0"),
        args: ["--args", "3", "bash", ...bashArguments(command, maxMemoryBytes)],
        env,
        timeoutMs: execOptions.timeoutMs ?? timeoutMs,
        maxOutputBytes,
        signal: execOptions.signal,
      });
      return {
        ...result,
        stdout: maskHostPaths(result.stdout, folders),
        stderr: maskHostPaths(result.stderr, folders),
      };
    },
    close: async () => {},
  };
}

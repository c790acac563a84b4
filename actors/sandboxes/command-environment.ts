/** Limits of one command. */
export interface CommandLimits {
  /** Milliseconds until a command and its children are killed. Default 120,000. */
  readonly timeoutMs?: number;
  /** Bytes of output that are kept. Default 1,000,000. */
  readonly maxOutputBytes?: number;
  /** Bytes of address space of each process of a command; 0: no limit. */
  readonly maxMemoryBytes?: number;
}

export const defaultTimeoutMs = 120_000;
export const defaultMaxOutputBytes = 1_000_000;

/**
 * The environment of a command: what programs need to run, and nothing of the environment of this process, where
 * keys and tokens are.
 */
export function commandEnvironment(options: {
  readonly home: string;
  readonly path: string;
  readonly added?: Readonly<Record<string, string>> | undefined;
}): Readonly<Record<string, string>> {
  return { PATH: options.path, HOME: options.home, LANG: "C.UTF-8", TERM: "dumb", ...options.added };
}

/** Arguments for `bash` that run a command below a memory limit and without core files. */
export function bashArguments(command: string, maxMemoryBytes: number): readonly string[] {
  const memory = maxMemoryBytes > 0 ? `ulimit -v ${Math.ceil(maxMemoryBytes / 1024)}; ` : "";
  return ["-c", `ulimit -c 0; ${memory}exec bash -c "$1"`, "bash", command];
}

/** Where commands and files of one thread live. All paths are virtual: `/mnt/user-data/{workspace,uploads,outputs}/…`. */
export interface Sandbox {
  readonly id: string;
  /** The thread it was made for. Only that thread gives it back to the provider. */
  readonly threadId: string;
  /** True when commands are isolated from the machine (namespaces), false when they run as the process's user. */
  readonly isolated: boolean;
  /**
   * Runs a shell command in the workspace. Never rejects because of the command itself.
   */
  exec(command: string, options?: ExecOptions): Promise<ExecResult>;
  /**
   * The virtual path that a path leads to, links and dots followed; the file need not be there. Takes host paths
   * inside the thread's folders, too, which the other functions refuse.
   * @throws {PathNotAllowedError}
   */
  resolve(path: string): Promise<string>;
  /** Bytes of a file. @throws {PathNotAllowedError} @throws {FileAccessError} */
  readFile(path: string): Promise<Uint8Array>;
  /** Writes a whole file and makes its folders. */
  writeFile(path: string, content: string | Uint8Array): Promise<void>;
  /** Entries of a folder, folders with a slash at the end, sorted; `depth` levels (default 1). */
  list(path: string, options?: { depth?: number }): Promise<readonly string[]>;
  stat(path: string): Promise<{ readonly kind: "file" | "folder"; readonly size: number } | undefined>;
}

export interface ExecOptions {
  /** Milliseconds until the command and its children are killed. */
  readonly timeoutMs?: number;
  readonly signal?: AbortSignal;
}

export interface ExecResult {
  readonly stdout: string;
  readonly stderr: string;
  /** 124 after a time-out, 130 after a cancel. */
  readonly exitCode: number;
  /** The output was longer than the limit and was cut. */
  readonly truncated: boolean;
}

/** Gives out sandboxes. Ids are the provider's; a thread asks for the same thread id again and may get another id. */
export interface SandboxProvider {
  readonly name: string;
  /** A sandbox for a thread; the same one while it lives. */
  acquire(request: {
    readonly threadId: string;
    readonly folders: ThreadFolders;
    readonly signal?: AbortSignal;
  }): Promise<Sandbox>;
  /** The sandbox of an id, or undefined when the provider does not have it any more. */
  get(sandboxId: string): Promise<Sandbox | undefined>;
  /** Hands a sandbox back after a run. It may be kept warm. */
  release(sandboxId: string): Promise<void>;
  close(): Promise<void>;
}

/** Host folders of one thread: the fields of `thread_data`. */
export interface ThreadFolders {
  readonly workspace_path: string;
  readonly uploads_path: string;
  readonly outputs_path: string;
}

/** A path is outside the thread's folders, or leads out of them. The message holds the virtual path only. */
export class PathNotAllowedError extends Error {
  override readonly name = "PathNotAllowedError";
  constructor(readonly path: string) {
    super(
      `"${path}" is not inside /mnt/user-data/workspace, /mnt/user-data/uploads or /mnt/user-data/outputs. Use a path below one of these.`,
    );
  }
}

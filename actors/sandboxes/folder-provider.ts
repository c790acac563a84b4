import { createFolderFiles } from "./folder-files.ts";
import type { ExecOptions, ExecResult, Sandbox, SandboxProvider, ThreadFolders } from "./sandbox.ts";
import { createThreadFolders } from "./thread-folders.ts";

/** How commands run on a thread's folders. */
export interface CommandRunner {
  exec(command: string, options?: ExecOptions): Promise<ExecResult>;
  close(): Promise<void>;
}

interface Held {
  readonly folders: ThreadFolders;
  readonly opening: Promise<{ readonly sandbox: Sandbox; readonly runner: CommandRunner }>;
}

/**
 * A provider whose sandboxes are the thread's host folders; only how commands run differs. Ids follow from the thread,
 * so that a thread finds its sandbox again after a restart.
 */
export function createFolderProvider(options: {
  readonly name: string;
  readonly isolated: boolean;
  openRunner(folders: ThreadFolders): Promise<CommandRunner>;
}): SandboxProvider {
  const held = new Map<string, Held>();

  const open = async (id: string, threadId: string, folders: ThreadFolders) => {
    await createThreadFolders(folders);
    const runner = await options.openRunner(folders);
    const sandbox: Sandbox = {
      id,
      threadId,
      isolated: options.isolated,
      exec: runner.exec,
      ...createFolderFiles(folders),
    };
    return { sandbox, runner };
  };

  const release = async (id: string) => {
    const opened = held.get(id);
    held.delete(id);
    if (opened) await (await opened.opening).runner.close();
  };

  return {
    name: options.name,
    async acquire({ threadId, folders, signal }) {
      signal?.throwIfAborted();
      const id = `${options.name}:${threadId}`;
      const before = held.get(id);
      if (before && before.folders.workspace_path === folders.workspace_path)
        return (await before.opening).sandbox;
      const opening = open(id, threadId, folders);
      held.set(id, { folders, opening });
      try {
        return (await opening).sandbox;
      } catch (error) {
        if (held.get(id)?.opening === opening) held.delete(id);
        throw error;
      }
    },
    async get(sandboxId) {
      return (await held.get(sandboxId)?.opening)?.sandbox;
    },
    release,
    async close() {
      await Promise.all([...held.keys()].map(release));
    },
  };
}

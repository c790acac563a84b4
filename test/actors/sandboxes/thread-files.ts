import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { onTestFinished } from "vitest";
import { runProcess } from "../../../actors/sandboxes/run-process.ts";
import type { ThreadFolders } from "../../../actors/sandboxes/sandbox.ts";
import { createThreadFolders, threadFolders } from "../../../actors/sandboxes/thread-folders.ts";

/** A store's folder that is removed after the test. */
export async function temporaryStoreFolder(prefix = "threadfold-test-"): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), prefix));
  onTestFinished(() => rm(folder, { recursive: true, force: true }));
  return folder;
}

/** Folders of thread `t` in a new store's folder, made. */
export async function madeThreadFolders(
  prefix?: string,
): Promise<ThreadFolders & { readonly store: string }> {
  const store = await temporaryStoreFolder(prefix);
  const folders = threadFolders({ folder: store, threadId: "t" });
  await createThreadFolders(folders);
  return { ...folders, store };
}

/** Makes a named pipe: a thing in a folder that is no file and blocks whoever opens it. */
export async function makePipe(path: string): Promise<void> {
  const env = { PATH: "/usr/bin:/bin" };
  const made = await runProcess({
    file: "mkfifo",
    args: [path],
    env,
    timeoutMs: 10_000,
    maxOutputBytes: 1_000,
  });
  if (made.exitCode !== 0) throw new Error(`mkfifo failed: ${made.stderr}`);
}

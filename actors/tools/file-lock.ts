import type { Sandbox } from "../sandboxes/sandbox.ts";

const last = new Map<string, Promise<unknown>>();

/**
 * Runs changes of one file one after the other, so that parallel tool calls which read, change and write it lose
 * nothing. Files of different sandboxes and different files do not wait for each other.
 */
export async function withFileLock<Result>(
  sandbox: Sandbox,
  path: string,
  change: () => Promise<Result>,
): Promise<Result> {
  const canonical = await sandbox.resolve(path);
  const key = `${sandbox.id}\n${canonical}`;
  const before = last.get(key) ?? Promise.resolve();
  const turn = before.then(change, change);
  const settled = turn.catch(() => {});
  last.set(key, settled);
  try {
    return await turn;
  } finally {
    if (last.get(key) === settled) last.delete(key);
  }
}

import { createFolderFiles } from "../../../actors/sandboxes/folder-files.ts";
import type { Sandbox, SandboxProvider, ThreadFolders } from "../../../actors/sandboxes/sandbox.ts";
import { threadFolders } from "../../../actors/sandboxes/thread-folders.ts";

/** A provider that gives out boxes with the ids it is told, remembers what it was asked, and can lose boxes. */
export interface ScriptedProvider extends SandboxProvider {
  readonly acquired: string[];
  readonly released: string[];
  /** A box that is there already. */
  place(id: string, threadId: string): Sandbox;
  lose(id: string): void;
}

export function scriptedProvider(options: {
  readonly ids: readonly string[];
  /** Where the boxes keep files. */
  readonly folders?: ThreadFolders;
  /** Awaited before a box is given. */
  readonly before?: () => Promise<void>;
}): ScriptedProvider {
  const ids = [...options.ids];
  const boxes = new Map<string, Sandbox>();
  const acquired: string[] = [];
  const released: string[] = [];
  const place = (id: string, threadId: string): Sandbox => {
    const folders = options.folders ?? threadFolders({ folder: "/nowhere", threadId });
    const exec = async () => ({ stdout: "", stderr: "", exitCode: 0, truncated: false });
    const box: Sandbox = { id, threadId, isolated: false, exec, ...createFolderFiles(folders) };
    boxes.set(id, box);
    return box;
  };
  return {
    name: "scripted",
    acquired,
    released,
    place,
    lose: (id) => boxes.delete(id),
    async acquire({ threadId }) {
      acquired.push(threadId);
      await options.before?.();
      const id = ids.shift();
      if (id === undefined) throw new Error("There are no more boxes.");
      return place(id, threadId);
    },
    get: async (id) => boxes.get(id),
    async release(id) {
      released.push(id);
      boxes.delete(id);
    },
    async close() {},
  };
}

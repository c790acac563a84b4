import { dirname } from "node:path";
import type { ThreadFolders } from "./sandbox.ts";
import { virtualOutputs, virtualRoot, virtualUploads, virtualWorkspace } from "./virtual-path.ts";

/** A host path and what stands in its place. */
export type PathPair = readonly [host: string, virtual: string];

/** Host folders of a thread with their virtual names, the folder around them included. */
export function folderPairs(folders: ThreadFolders): readonly PathPair[] {
  const around = dirname(folders.workspace_path);
  const shared = [folders.uploads_path, folders.outputs_path].every((path) => dirname(path) === around);
  return [
    [folders.workspace_path, virtualWorkspace],
    [folders.uploads_path, virtualUploads],
    [folders.outputs_path, virtualOutputs],
    ...(shared && around !== "/" ? [[around, virtualRoot] as const] : []),
  ];
}

function escapeForPattern(text: string): string {
  return text.replace(/[.*+?^${}()|[\]\\]/g, "\\$&");
}

/**
 * Puts virtual paths in place of the thread's host paths, in any text that leaves the machine's side.
 *
 * @param aliases further host paths of the same folders (real paths behind links)
 * @example
 * maskHostPaths(`cannot open ${folders.workspace_path}/a`, folders); // "cannot open /mnt/user-data/workspace/a"
 */
export function maskHostPaths(
  text: string,
  folders: ThreadFolders,
  aliases: readonly PathPair[] = [],
): string {
  const pairs = [...folderPairs(folders), ...aliases].sort(([a], [b]) => b.length - a.length);
  let masked = text;
  for (const [host, virtual] of pairs) {
    if (!masked.includes(host)) continue;
    // A longer name that only begins alike ("…/workspace2", "…/workspace.txt") is another path.
    masked = masked.replace(new RegExp(`${escapeForPattern(host)}(?![\\w-]|\\.\\w)`, "g"), virtual);
  }
  return masked;
}

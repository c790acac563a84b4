import { join, relative, sep } from "node:path";
import type { ThreadFolders } from "./sandbox.ts";

/** What the model sees as the root of the thread's files. */
export const virtualRoot = "/mnt/user-data";

/** The three folders of a thread. */
export const virtualAreas = ["workspace", "uploads", "outputs"] as const;
export type VirtualArea = (typeof virtualAreas)[number];

export const virtualWorkspace = `${virtualRoot}/workspace`;
export const virtualUploads = `${virtualRoot}/uploads`;
export const virtualOutputs = `${virtualRoot}/outputs`;

/** The host folder behind one of the three virtual folders. */
export function hostFolder(folders: ThreadFolders, area: VirtualArea): string {
  return folders[`${area}_path`];
}

export function isVirtualArea(name: string | undefined): name is VirtualArea {
  return virtualAreas.some((area) => area === name);
}

/** Host path of a canonical virtual path, given by its segments below the root; undefined for the root itself. */
export function hostPathOf(folders: ThreadFolders, segments: readonly string[]): string | undefined {
  const [area, ...rest] = segments;
  return isVirtualArea(area) ? join(hostFolder(folders, area), ...rest) : undefined;
}

/** True when `path` is `folder` or lies below it, compared as text. */
export function isInside(folder: string, path: string): boolean {
  const way = relative(folder, path);
  return way === "" || (way !== ".." && !way.startsWith(`..${sep}`) && !way.startsWith(sep));
}

/**
 * The virtual path of a host path inside one of the thread's folders, compared as text; undefined for others.
 *
 * @example
 * toVirtualPath(folders, join(folders.outputs_path, "a.md")); // "/mnt/user-data/outputs/a.md"
 */
export function toVirtualPath(folders: ThreadFolders, hostPath: string): string | undefined {
  for (const area of virtualAreas) {
    const folder = hostFolder(folders, area);
    if (isInside(folder, hostPath)) {
      const below = relative(folder, hostPath).split(sep).join("/");
      return below === "" ? `${virtualRoot}/${area}` : `${virtualRoot}/${area}/${below}`;
    }
  }
  return undefined;
}

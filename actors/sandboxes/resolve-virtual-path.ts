import { lstat, readlink, realpath } from "node:fs/promises";
import { isAbsolute } from "node:path";
import { maskHostPaths } from "./mask-host-paths.ts";
import { PathNotAllowedError, type ThreadFolders } from "./sandbox.ts";
import {
  hostFolder,
  hostPathOf,
  isVirtualArea,
  toVirtualPath,
  virtualAreas,
  virtualRoot,
} from "./virtual-path.ts";

/** Where a virtual path really leads. */
export interface ResolvedPath {
  /** Canonical virtual path: no links, no dots. */
  readonly virtual: string;
  /** Host path without links below the thread's folder; undefined for `/mnt/user-data` itself. */
  readonly host: string | undefined;
}

const maxLinks = 40;
const maxPathLength = 4096;
const controlCharacters = /\p{Cc}/u;

/**
 * Follows a path the way the sandbox sees it, one segment after the other: links are read and followed inside the
 * virtual tree, so that no link, no `..` and no absolute target leads out of the thread's folders. Relative paths
 * start in the workspace. What does not exist yet is allowed.
 *
 * @param options.hostPaths also take host paths that lie inside the thread's folders
 * @throws {PathNotAllowedError}
 * @example
 * (await resolveVirtualPath(folders, "/mnt/user-data/outputs/./a.md")).virtual; // "/mnt/user-data/outputs/a.md"
 */
export async function resolveVirtualPath(
  folders: ThreadFolders,
  path: string,
  options: { readonly hostPaths?: boolean } = {},
): Promise<ResolvedPath> {
  const refuse = () => new PathNotAllowedError(shown(folders, path));
  if (path === "" || path.length > maxPathLength || controlCharacters.test(path)) throw refuse();
  let pending = await segmentsBelowRoot(folders, path, options.hostPaths ?? false);
  if (!pending) throw refuse();

  let current: string[] = [];
  let links = 0;
  while (pending.length > 0) {
    const [segment = "", ...rest]: string[] = pending;
    pending = rest;
    if (segment === "" || segment === ".") continue;
    if (segment === "..") {
      if (current.pop() === undefined) throw refuse();
      continue;
    }
    current.push(segment);
    if (current.length === 1) {
      if (!isVirtualArea(segment)) throw refuse();
      continue;
    }
    const target = await linkTarget(hostPathOf(folders, current));
    if (target === undefined) continue;
    links += 1;
    if (links > maxLinks) throw refuse();
    current.pop();
    if (isAbsolute(target)) {
      const below = await segmentsBelowRoot(folders, target, true);
      if (!below) throw refuse();
      current = [];
      pending = [...below, ...pending];
    } else {
      pending = [...target.split("/"), ...pending];
    }
  }
  return { virtual: [virtualRoot, ...current].join("/"), host: hostPathOf(folders, current) };
}

/** Segments below `/mnt/user-data`; undefined for a path outside of it. */
async function segmentsBelowRoot(
  folders: ThreadFolders,
  path: string,
  hostPaths: boolean,
): Promise<string[] | undefined> {
  const absolute = path.startsWith("mnt/user-data/") ? `/${path}` : path;
  if (absolute === virtualRoot) return [];
  if (absolute.startsWith(`${virtualRoot}/`)) return absolute.slice(virtualRoot.length + 1).split("/");
  if (!isAbsolute(absolute)) return ["workspace", ...absolute.split("/")];
  if (!hostPaths) return undefined;
  const virtual = toVirtualPath(folders, absolute) ?? toVirtualPath(await realFolders(folders), absolute);
  return virtual?.slice(virtualRoot.length + 1).split("/");
}

/** The folders behind links above them, as a program that asks for its working directory sees them. */
export async function realFolders(folders: ThreadFolders): Promise<ThreadFolders> {
  const real = async (path: string) => realpath(path).catch(() => path);
  const [workspace_path, uploads_path, outputs_path] = await Promise.all(
    virtualAreas.map((area) => real(hostFolder(folders, area))),
  );
  return {
    workspace_path: workspace_path ?? folders.workspace_path,
    uploads_path: uploads_path ?? folders.uploads_path,
    outputs_path: outputs_path ?? folders.outputs_path,
  };
}

async function linkTarget(host: string | undefined): Promise<string | undefined> {
  if (host === undefined) return undefined;
  const stats = await lstat(host).catch(() => undefined);
  return stats?.isSymbolicLink() ? readlink(host).catch(() => undefined) : undefined;
}

/** The path as an error may show it: no host folders, no control characters, not longer than a line. */
function shown(folders: ThreadFolders, path: string): string {
  const clean = maskHostPaths(path, folders).replace(/\p{Cc}/gu, "?");
  return clean.length > 200 ? `${clean.slice(0, 200)}…` : clean;
}

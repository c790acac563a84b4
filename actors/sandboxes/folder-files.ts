import { constants } from "node:fs";
import { type FileHandle, mkdir, open, readdir, readlink, realpath, stat } from "node:fs/promises";
import { dirname, join } from "node:path";
import { FileAccessError, fileAccessError } from "./file-access-error.ts";
import { type ResolvedPath, resolveVirtualPath } from "./resolve-virtual-path.ts";
import { PathNotAllowedError, type Sandbox, type ThreadFolders } from "./sandbox.ts";
import { isInside, virtualAreas, virtualRoot } from "./virtual-path.ts";

/** Bytes of the largest file that is read into memory. */
export const maxFileBytes = 64 * 1024 * 1024;
/** Entries after which a listing stops. */
const maxEntries = 5_000;
/** Folders that are named but not opened in a listing of more than one level. */
const closedFolders = new Set([".git", "node_modules"]);

interface Found {
  readonly host: string;
  readonly virtual: string;
  /** Host folder that must hold the file. */
  readonly base: string;
}

export type FolderFiles = Pick<Sandbox, "resolve" | "readFile" | "writeFile" | "list" | "stat">;

/**
 * File access to a thread's host folders by virtual paths. Links are resolved before anything is opened, and what was
 * opened is checked again, so that a link that is swapped in between leads nowhere.
 *
 * @example
 * const files = createFolderFiles(threadFolders({ folder, threadId }));
 * await files.writeFile("/mnt/user-data/outputs/a.md", "# A");
 */
export function createFolderFiles(folders: ThreadFolders): FolderFiles {
  const find = async (path: string): Promise<ResolvedPath & { host: string }> => {
    const resolved = await resolveVirtualPath(folders, path);
    if (resolved.host === undefined) throw new FileAccessError(resolved.virtual, "EISDIR");
    return { ...resolved, host: resolved.host };
  };
  const checked = async <Result>(path: string, use: (found: Found) => Promise<Result>): Promise<Result> => {
    const { host, virtual } = await find(path);
    const area = virtualAreas.find((name) => isInside(`${virtualRoot}/${name}`, virtual)) ?? "workspace";
    try {
      return await use({ host, virtual, base: folders[`${area}_path`] });
    } catch (error) {
      throw fileAccessError(virtual, error);
    }
  };

  return {
    async resolve(path) {
      return (await resolveVirtualPath(folders, path, { hostPaths: true })).virtual;
    },

    readFile: (path) =>
      checked(path, async (found) => {
        const file = await open(found.host, constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK);
        try {
          const { size } = await checkOpened(file, found);
          if (size > maxFileBytes) throw new FileAccessError(found.virtual, "EFBIG");
          return new Uint8Array(await file.readFile());
        } finally {
          await file.close();
        }
      }),

    writeFile: (path, content) =>
      checked(path, async (found) => {
        await mkdir(dirname(found.host), { recursive: true });
        const flags = constants.O_WRONLY | constants.O_CREAT | constants.O_NOFOLLOW | constants.O_NONBLOCK;
        const file = await open(found.host, flags, 0o644);
        try {
          await checkOpened(file, found);
          await file.truncate(0);
          await file.writeFile(content);
        } finally {
          await file.close();
        }
      }),

    async list(path, options = {}) {
      const { virtual, host } = await resolveVirtualPath(folders, path);
      const depth = options.depth ?? 1;
      const entries: string[] = [];
      if (host !== undefined) {
        try {
          await listInto(entries, host, "", depth);
        } catch (error) {
          throw fileAccessError(virtual, error);
        }
        return entries.sort();
      }
      for (const area of virtualAreas) {
        entries.push(`${area}/`);
        if (depth > 1)
          await listInto(entries, folders[`${area}_path`], `${area}/`, depth - 1).catch(ignoreMissing);
      }
      return entries.sort();
    },

    async stat(path) {
      const { virtual, host } = await resolveVirtualPath(folders, path);
      if (host === undefined) return { kind: "folder", size: 0 };
      const stats = await stat(host).catch((error: unknown) => {
        const code = (error as { code?: unknown }).code;
        if (code === "ENOENT" || code === "ENOTDIR") return undefined;
        throw fileAccessError(virtual, error);
      });
      if (stats?.isDirectory()) return { kind: "folder", size: 0 };
      if (stats && !stats.isFile()) throw new FileAccessError(virtual, "ENOTFILE");
      return stats && { kind: "file", size: stats.size };
    },
  };
}

/** Refuses what is not a plain file, and a file outside of the folder that the path was resolved in. */
async function checkOpened(file: FileHandle, { virtual, base }: Found): Promise<{ size: number }> {
  const stats = await file.stat();
  if (stats.isDirectory()) throw new FileAccessError(virtual, "EISDIR");
  if (!stats.isFile()) throw new FileAccessError(virtual, "ENOTFILE");
  // Only Linux tells where an open file lies.
  const opened = await readlink(`/proc/self/fd/${file.fd}`).catch(() => undefined);
  if (opened?.startsWith("/") && !isInside(await realpath(base), opened)) {
    throw new PathNotAllowedError(virtual);
  }
  return { size: stats.size };
}

async function listInto(entries: string[], folder: string, prefix: string, depth: number): Promise<void> {
  const found = await readdir(folder, { withFileTypes: true });
  for (const entry of found.sort((a, b) => (a.name < b.name ? -1 : 1))) {
    if (entries.length >= maxEntries) return;
    const name = `${prefix}${entry.name}`;
    entries.push(entry.isDirectory() ? `${name}/` : name);
    if (entry.isDirectory() && depth > 1 && !closedFolders.has(entry.name)) {
      await listInto(entries, join(folder, entry.name), `${name}/`, depth - 1);
    }
  }
}

function ignoreMissing(error: unknown): void {
  if ((error as { code?: unknown }).code !== "ENOENT") throw error;
}

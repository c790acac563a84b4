import { randomUUID } from "node:crypto";
import { mkdir, open, readdir, readFile, rename, rm, stat, utimes } from "node:fs/promises";
import { join } from "node:path";
import { sha256 as digest } from "../hash-chain.ts";
import { BlobDamagedError, BlobMissingError, type BlobStore, needsRefresh } from "./blob-store.ts";

const digestForm = /^[0-9a-f]{64}$/;

function isMissing(error: unknown): boolean {
  return (error as NodeJS.ErrnoException).code === "ENOENT";
}

/** Makes the entries of a folder durable. Windows cannot, and needs not. */
async function syncFolder(folder: string): Promise<void> {
  if (process.platform === "win32") return;
  const handle = await open(folder, "r");
  try {
    await handle.sync();
  } finally {
    await handle.close();
  }
}

/**
 * Blobs as files `<first two digits>/<sha256>` below a folder. A file appears under its name only when its bytes are
 * on disk, so that a crash leaves no half blob; bytes are verified whenever they are read.
 *
 * @example
 * const blobs = createFileBlobs(".threadfold/blobs");
 * const { sha256 } = await blobs.put("a long tool output", "text/plain");
 */
export function createFileBlobs(folder: string): BlobStore {
  const folderOf = (sha256: string) => join(folder, sha256.slice(0, 2));
  const pathOf = (sha256: string) => {
    // A digest comes from an event, and must not lead out of the folder.
    if (!digestForm.test(sha256)) throw new BlobMissingError(sha256);
    return join(folderOf(sha256), sha256);
  };
  const timeOf = (sha256: string): Promise<Date | undefined> =>
    stat(pathOf(sha256)).then(
      ({ mtime }) => mtime,
      (error: unknown) => {
        if (isMissing(error)) return undefined;
        throw error;
      },
    );

  const write = async (sha256: string, bytes: Uint8Array) => {
    const target = folderOf(sha256);
    await mkdir(target, { recursive: true });
    const temporary = join(target, `.${sha256}.${randomUUID()}`);
    try {
      const handle = await open(temporary, "wx");
      try {
        await handle.writeFile(bytes);
        await handle.sync();
      } finally {
        await handle.close();
      }
      await rename(temporary, pathOf(sha256));
    } catch (error) {
      await rm(temporary, { force: true });
      throw error;
    }
    await syncFolder(target);
    await syncFolder(folder);
  };

  /** False: it was deleted in the meantime. */
  const refresh = (sha256: string): Promise<boolean> =>
    utimes(pathOf(sha256), new Date(), new Date()).then(
      () => true,
      (error: unknown) => {
        if (isMissing(error)) return false;
        throw error;
      },
    );

  /** Out of the way first: whoever puts the blob from then on writes it anew. */
  const deleteOld = async (sha256: string, writtenBefore: string): Promise<boolean> => {
    const away = join(folderOf(sha256), `.${sha256}.${randomUUID()}`);
    try {
      await rename(pathOf(sha256), away);
    } catch (error) {
      if (isMissing(error)) return true;
      throw error;
    }
    const isOld = (await stat(away)).mtime.toISOString() < writtenBefore;
    if (isOld) await rm(away, { force: true });
    else await rename(away, pathOf(sha256));
    return isOld && (await timeOf(sha256)) === undefined;
  };

  return {
    has: async (sha256) => digestForm.test(sha256) && (await timeOf(sha256)) !== undefined,
    async put(content, mimeType) {
      const bytes = typeof content === "string" ? new TextEncoder().encode(content) : content;
      const sha256 = digest(bytes);
      const writtenAt = await timeOf(sha256);
      const isThere = writtenAt !== undefined && (!needsRefresh(writtenAt) || (await refresh(sha256)));
      if (!isThere) await write(sha256, bytes);
      return { sha256, mimeType, size: bytes.length };
    },
    async get(sha256) {
      let bytes: Uint8Array;
      try {
        bytes = new Uint8Array(await readFile(pathOf(sha256)));
      } catch (error) {
        if (isMissing(error)) throw new BlobMissingError(sha256);
        throw error;
      }
      if (digest(bytes) !== sha256) throw new BlobDamagedError(sha256);
      return bytes;
    },
    async delete(sha256, { writtenBefore } = {}) {
      const writtenAt = await timeOf(sha256);
      if (writtenBefore === undefined) await rm(pathOf(sha256), { force: true });
      else if (writtenAt && writtenAt.toISOString() >= writtenBefore) return false;
      else return deleteOld(sha256, writtenBefore);
      return true;
    },
    async *list() {
      let folders: string[];
      try {
        folders = (await readdir(folder)).sort();
      } catch (error) {
        if (isMissing(error)) return;
        throw error;
      }
      for (const name of folders) {
        for (const sha256 of (await readdir(join(folder, name))).sort()) {
          if (!digestForm.test(sha256)) continue;
          const { size, mtime } = await stat(pathOf(sha256));
          yield { sha256, size, writtenAt: mtime.toISOString() };
        }
      }
    },
  };
}

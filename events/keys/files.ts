import { createHash, randomBytes } from "node:crypto";
import { type FileHandle, link, mkdir, open, rename, rm, stat } from "node:fs/promises";
import { join } from "node:path";
import { setTimeout as pause } from "node:timers/promises";
import { KeyConflictError, KeyDestroyedError, type KeyStore, type StoredKey } from "./key-store.ts";
import { sameKey } from "./memory.ts";

/** Others than the owner can read a key. */
export class KeyFileOpenToOthersError extends Error {
  override readonly name = "KeyFileOpenToOthersError";
  constructor(readonly path: string) {
    super(`${path} can be read by other users, so its key is not used. Run: chmod 600 "${path}"`);
  }
}

/** Another process holds the lock of a key for too long. */
export class KeyLockedError extends Error {
  override readonly name = "KeyLockedError";
  constructor(readonly path: string) {
    super(
      `${path} is there since more than a few seconds: another process changes this key, or died while it did. Delete the file when no process is left.`,
    );
  }
}

const tombstone = "destroyed";
const ownerOnly = 0o600;
const lockWaitMs = 5000;
const lockPollMs = 20;

async function syncFolder(folder: string): Promise<void> {
  const handle = await open(folder, "r");
  try {
    await handle.sync();
  } finally {
    await handle.close();
  }
}

async function readHandle(handle: FileHandle, path: string): Promise<Exclude<StoredKey, undefined>> {
  if (((await handle.stat()).mode & 0o077) !== 0) throw new KeyFileOpenToOthersError(path);
  const text = await handle.readFile("utf8");
  return text === tombstone ? tombstone : new Uint8Array(Buffer.from(text, "base64"));
}

function isMissing(error: unknown): boolean {
  return (error as NodeJS.ErrnoException).code === "ENOENT";
}

/**
 * Keys as files that only their owner can read (mode 0600), one for each stream. A destroyed key is overwritten on the
 * disk; copies that a backup, a snapshot of the file system or a worn flash cell kept are out of reach.
 *
 * @example
 * const keys = createFileKeyStore("/var/lib/threadfold/keys");
 */
export function createFileKeyStore(folder: string): KeyStore {
  const pathOf = (id: string) => join(folder, `${createHash("sha256").update(id).digest("hex")}.key`);

  const read = async (path: string): Promise<StoredKey> => {
    let handle: FileHandle;
    try {
      handle = await open(path, "r");
    } catch (error) {
      if (isMissing(error)) return undefined;
      throw error;
    }
    try {
      return await readHandle(handle, path);
    } finally {
      await handle.close();
    }
  };

  const writeNew = async (path: string, text: string): Promise<string> => {
    await mkdir(folder, { recursive: true, mode: 0o700 });
    const temporary = `${path}.${randomBytes(8).toString("hex")}`;
    const handle = await open(temporary, "wx", ownerOnly);
    try {
      await handle.writeFile(text);
      await handle.sync();
    } finally {
      await handle.close();
    }
    return temporary;
  };

  /** Puts a text in the place of a file and overwrites what was there. */
  const overwrite = async (path: string, text: string): Promise<void> => {
    const temporary = await writeNew(path, text);
    const old = await open(path, "r+").catch((error: unknown) => {
      if (isMissing(error)) return undefined;
      throw error;
    });
    try {
      await rename(temporary, path);
      await syncFolder(folder);
      if (!old) return;
      const { size } = await old.stat();
      await old.write(randomBytes(size), 0, size, 0);
      await old.sync();
    } finally {
      await old?.close();
    }
  };

  const locked = async <Result>(path: string, work: () => Promise<Result>): Promise<Result> => {
    await mkdir(folder, { recursive: true, mode: 0o700 });
    const lock = `${path}.lock`;
    for (let waited = 0; ; waited += lockPollMs) {
      try {
        await (await open(lock, "wx", ownerOnly)).close();
        break;
      } catch (error) {
        if ((error as NodeJS.ErrnoException).code !== "EEXIST") throw error;
        if (waited >= lockWaitMs) throw new KeyLockedError(lock);
        await pause(lockPollMs);
      }
    }
    try {
      return await work();
    } finally {
      await rm(lock, { force: true });
    }
  };

  return {
    kind: "files",
    read: (id) => read(pathOf(id)),
    async create(id, key) {
      const path = pathOf(id);
      const temporary = await writeNew(path, Buffer.from(key).toString("base64"));
      try {
        // A link is made for one of several processes only, and never shows half a file.
        await link(temporary, path);
        await syncFolder(folder);
        return key;
      } catch (error) {
        if ((error as NodeJS.ErrnoException).code !== "EEXIST") throw error;
        const known = await read(path);
        if (!(known instanceof Uint8Array)) throw new KeyDestroyedError(id);
        return known;
      } finally {
        await rm(temporary, { force: true });
      }
    },
    replace(id, current, next) {
      const path = pathOf(id);
      return locked(path, async () => {
        const known = await read(path);
        if (!(known instanceof Uint8Array) || !sameKey(known, current)) throw new KeyConflictError(id);
        await overwrite(path, Buffer.from(next).toString("base64"));
      });
    },
    destroy(id) {
      const path = pathOf(id);
      return locked(path, async () => {
        const known = await stat(path).catch(() => undefined);
        if (known && (await read(path)) === tombstone) return;
        await overwrite(path, tombstone);
      });
    },
  };
}

import { copyFile, mkdir, mkdtemp, rm, stat } from "node:fs/promises";
import { tmpdir } from "node:os";
import { basename, dirname, join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { pathToFileURL } from "node:url";
import { LogFormatError, LogUnavailableError } from "./event-log.ts";
import { loadSqliteDriver, type SqliteDatabase, type SqliteDriver } from "./sqlite-driver.ts";
import { cannotOpen, isBusy, translateSqliteError } from "./sqlite-errors.ts";
import { createTables, recognise } from "./sqlite-schema.ts";

/** An opened file, and what to do when it is closed. */
export interface OpenedFile {
  readonly database: SqliteDatabase;
  close(): Promise<void>;
}

/** Fewer, larger pages than SQLite's default: five percent fewer bytes, and faster scans, for the rows of events. */
const pageBytes = 8192;
/** SQLite blocks the event loop while it waits for a lock; the writer waits longer without blocking. */
const blockingBusyTimeoutMs = 20;

async function sizeOf(path: string): Promise<number | undefined> {
  return stat(path).then(
    ({ size }) => size,
    () => undefined,
  );
}

async function makeFolder(path: string): Promise<void> {
  try {
    await mkdir(dirname(path));
  } catch (cause) {
    if ((cause as NodeJS.ErrnoException).code === "EEXIST") return;
    throw new LogUnavailableError(
      `The folder of ${path} cannot be made: ${(cause as Error).message}. Make it first, or choose another place.`,
      { cause },
    );
  }
}

function prepareForWriting(database: SqliteDatabase, path: string, synchronous: "full" | "normal"): void {
  database.exec(`PRAGMA busy_timeout = ${blockingBusyTimeoutMs}`);
  const isStore = recognise(database, path);
  if (!isStore) database.exec(`PRAGMA page_size = ${pageBytes}`);
  const mode = database.prepare("PRAGMA journal_mode = WAL").get()?.[0];
  if (mode !== "wal") {
    throw new LogUnavailableError(`${path} cannot use a write-ahead log. Put the store on a local disk.`);
  }
  // Erased content must leave the file, not only its tables.
  database.exec(`PRAGMA synchronous = ${synchronous}; PRAGMA secure_delete = ON`);
  if (!isStore) createTables(database, path);
  // A file without write permission opens all the same, and would refuse the first append.
  database.exec("BEGIN IMMEDIATE; COMMIT");
}

/**
 * The package keeps a closed file open until its statements are collected. So the write-ahead log is emptied here and
 * not left to the last close: whoever copies or moves the file now has everything.
 */
function closeComplete(database: SqliteDatabase): void {
  try {
    database.exec("PRAGMA wal_checkpoint(TRUNCATE)");
  } catch {
    // Another process is reading: the events stay in the write-ahead log, as safe as before.
  }
  database.close();
}

/**
 * Opens a store for reading and writing; makes the file, and the folder it is in, when they are not there.
 *
 * @throws {LogUnavailableError} @throws {LogFormatError}
 */
export async function openForWriting(
  path: string,
  options: { readonly synchronous: "full" | "normal"; readonly busyTimeoutMs: number },
): Promise<OpenedFile> {
  const driver = await loadSqliteDriver();
  await makeFolder(path);
  const start = performance.now();
  for (;;) {
    let database: SqliteDatabase | undefined;
    try {
      database = driver.open(path);
      prepareForWriting(database, path, options.synchronous);
      const opened = database;
      return { database: opened, close: async () => closeComplete(opened) };
    } catch (error) {
      database?.close();
      if (!isBusy(error) || performance.now() - start > options.busyTimeoutMs) {
        throw translateSqliteError(error, path);
      }
    }
    await sleep(blockingBusyTimeoutMs);
  }
}

function openRecognised(driver: SqliteDriver, location: string, path: string): SqliteDatabase {
  const database = driver.open(location, { readOnly: true });
  try {
    database.exec(`PRAGMA busy_timeout = ${blockingBusyTimeoutMs}`);
    if (recognise(database, path)) return database;
    throw new LogFormatError(`${path} is empty: no Threadfold store. Choose another file.`);
  } catch (error) {
    database.close();
    throw error;
  }
}

/** The write-ahead log needs files beside the database, so a folder without write permission needs a copy elsewhere. */
async function openCopy(driver: SqliteDriver, path: string): Promise<OpenedFile> {
  const folder = await mkdtemp(join(tmpdir(), "threadfold-read-"));
  const remove = () => rm(folder, { recursive: true, force: true });
  try {
    const copy = join(folder, basename(path));
    await copyFile(path, copy);
    await copyFile(`${path}-wal`, `${copy}-wal`);
    const database = openRecognised(driver, copy, path);
    return {
      database,
      async close() {
        database.close();
        await remove();
      },
    };
  } catch (error) {
    await remove();
    throw error;
  }
}

/**
 * Opens a store for reading, also where nothing may be written.
 *
 * @throws {LogUnavailableError} @throws {LogFormatError}
 */
export async function openForReading(path: string): Promise<OpenedFile> {
  const driver = await loadSqliteDriver();
  if ((await sizeOf(path)) === undefined) {
    throw new LogUnavailableError(`${path} is not there. Check the path of the store.`);
  }
  try {
    try {
      const database = openRecognised(driver, path, path);
      return { database, close: async () => database.close() };
    } catch (error) {
      if (!cannotOpen(error)) throw error;
      if (await sizeOf(`${path}-wal`)) return await openCopy(driver, path);
      // Nothing is pending and nobody can write: SQLite may take the file as it stands.
      const database = openRecognised(driver, `${pathToFileURL(path).href}?immutable=1`, path);
      return { database, close: async () => database.close() };
    }
  } catch (error) {
    throw translateSqliteError(error, path);
  }
}

import { LogUnavailableError } from "./event-log.ts";
import type { SqliteDatabase } from "./sqlite-driver.ts";
import { isBusy, isSqliteError, translateCommitError, translateSqliteError } from "./sqlite-errors.ts";

/** One change to the file, made inside a transaction that it may share with others. */
interface WriteTask<Result> {
  /** Must be on disk when its promise resolves. */
  readonly durable: boolean;
  /**
   * Makes the change. It may be run again after a roll-back. Whatever it throws that is not SQLite's refuses this task
   * alone, so it must be thrown before the first change.
   */
  run(): Result;
}

interface QueuedTask {
  readonly task: WriteTask<unknown>;
  readonly resolve: (result: unknown) => void;
  readonly reject: (reason: unknown) => void;
  /** A transaction with others failed: this time it gets one of its own, and an answer of its own. */
  alone: boolean;
}

type Outcome =
  | { readonly ok: true; readonly result: unknown }
  | { readonly ok: false; readonly error: unknown };

export interface WriterOptions {
  readonly database: SqliteDatabase;
  readonly path: string;
  readonly synchronous: "full" | "normal";
  /** How long a change waits for another process that is writing, in milliseconds. */
  readonly busyTimeoutMs: number;
  /** Another connection committed since the last transaction. Called inside the new one. */
  readonly onForeignCommit: () => void;
  readonly onRollback: () => void;
  readonly onCommit: () => void;
}

/** The only way into the file: everything that is submitted in one macrotask shares one transaction and one sync. */
export interface Writer {
  submit<Result>(task: WriteTask<Result>): Promise<Result>;
  /** Refuses new tasks and resolves when the queued ones are done. */
  close(): Promise<void>;
}

/** Bounds the time for which one transaction holds the event loop. */
const maxTasksPerTransaction = 512;
const busyRetryMs = 5;

export function createWriter(options: WriterOptions): Writer {
  const { database, path, synchronous, busyTimeoutMs, onForeignCommit, onRollback, onCommit } = options;
  const begin = database.prepare("BEGIN IMMEDIATE");
  const commit = database.prepare("COMMIT");
  const dataVersion = database.prepare("PRAGMA data_version");
  const queue: QueuedTask[] = [];
  let seenVersion: unknown;
  let scheduled = false;
  let busySince: number | undefined;
  let closed: (() => void) | undefined;

  const schedule = () => {
    if (scheduled) return;
    scheduled = true;
    setImmediate(flush);
  };

  const rollback = () => {
    onRollback();
    try {
      database.exec("ROLLBACK");
    } catch {
      // SQLite rolled back by itself, as it does when the disk is full.
    }
  };

  const runAll = (batch: readonly QueuedTask[]): Outcome[] => {
    const version = dataVersion.get()?.[0];
    if (version !== seenVersion) {
      seenVersion = version;
      onForeignCommit();
    }
    return batch.map(({ task }) => {
      try {
        return { ok: true, result: task.run() };
      } catch (error) {
        if (isSqliteError(error)) throw error;
        return { ok: false, error };
      }
    });
  };

  const fail = (batch: readonly QueuedTask[], error: unknown) => {
    for (const { reject } of batch) reject(error);
  };

  const retryAlone = (batch: readonly QueuedTask[]) => {
    for (const queued of batch) queued.alone = true;
    queue.unshift(...batch);
  };

  const waitForLock = (batch: readonly QueuedTask[], error: unknown) => {
    busySince ??= performance.now();
    if (performance.now() - busySince > busyTimeoutMs) {
      busySince = undefined;
      queue.splice(0, batch.length);
      fail(batch, translateSqliteError(error, path));
      return;
    }
    scheduled = true;
    setTimeout(flush, busyRetryMs * (1 + Math.random()));
  };

  const transact = (batch: readonly QueuedTask[]) => {
    let outcomes: Outcome[];
    try {
      outcomes = runAll(batch);
    } catch (error) {
      rollback();
      if (batch.length > 1) retryAlone(batch);
      else fail(batch, translateSqliteError(error, path));
      return;
    }
    try {
      commit.run();
    } catch (error) {
      rollback();
      const translated = translateCommitError(error, path);
      if (batch.length > 1 && translated instanceof LogUnavailableError) retryAlone(batch);
      else fail(batch, translated);
      return;
    }
    batch.forEach(({ resolve, reject }, index) => {
      const outcome = outcomes[index];
      if (outcome?.ok) resolve(outcome.result);
      else reject(outcome?.error);
    });
    onCommit();
  };

  const nextBatch = (): QueuedTask[] => {
    if (queue[0]?.alone) return queue.slice(0, 1);
    const end = queue.findIndex(({ alone }) => alone);
    return queue.slice(0, Math.min(maxTasksPerTransaction, end < 0 ? queue.length : end));
  };

  const flush = () => {
    scheduled = false;
    const batch = nextBatch();
    if (batch.length > 0) {
      // Leases and snapshots alone need no sync: losing them costs time, never data.
      const relaxed = synchronous === "full" && batch.every(({ task }) => !task.durable);
      if (relaxed) database.exec("PRAGMA synchronous = NORMAL");
      try {
        begin.run();
        busySince = undefined;
        queue.splice(0, batch.length);
        transact(batch);
      } catch (error) {
        if (isBusy(error)) waitForLock(batch, error);
        else {
          queue.splice(0, batch.length);
          fail(batch, translateSqliteError(error, path));
        }
      } finally {
        if (relaxed) database.exec("PRAGMA synchronous = FULL");
      }
    }
    if (queue.length > 0) schedule();
    else closed?.();
  };

  return {
    submit<Result>(task: WriteTask<Result>) {
      return new Promise<Result>((resolve, reject) => {
        if (closed) {
          reject(new LogUnavailableError(`${path} is closed. Open the store again.`));
          return;
        }
        queue.push({ task, resolve: resolve as (result: unknown) => void, reject, alone: false });
        schedule();
      });
    },
    close() {
      return new Promise((resolve) => {
        closed = resolve;
        if (queue.length === 0 && !scheduled) resolve();
      });
    },
  };
}

import { setTimeout as pause } from "node:timers/promises";
import type { Pool, PoolClient } from "pg";
import { AppendOutcomeUnknownError, LogUnavailableError } from "./event-log.ts";
import { isPassing, translatePostgresError } from "./postgres-errors.ts";

/** Columns as the server writes them. */
export type PostgresRow = readonly (string | null)[];

/** `read` and `repeatable` statements are sent again when their outcome is unknown; `once` are not. */
type StatementKind = "read" | "repeatable" | "once";

/** Statements on a pool of connections: with typed errors, and tried again while the server is away. */
export interface PostgresSession {
  readonly where: string;
  /**
   * @param meanwhile is called each time that the statement has been sent, while the server works on it; throws nothing
   * @throws {LogUnavailableError} @throws {LogFormatError} @throws {AppendOutcomeUnknownError} not for reads
   */
  query(
    kind: StatementKind,
    text: string,
    values?: readonly unknown[],
    meanwhile?: () => void,
  ): Promise<readonly PostgresRow[]>;
  /**
   * Several statements in one transaction, rolled back when `work` throws. `work` is called again when the connection
   * breaks before the commit.
   * @param begin how it begins, like `BEGIN` or `BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY`
   * @throws {LogUnavailableError} @throws {LogFormatError} and what `work` throws
   * @throws {AppendOutcomeUnknownError} the connection broke during the commit
   */
  transaction<Result>(begin: string, work: (query: PostgresQuery) => Promise<Result>): Promise<Result>;
  close(): Promise<void>;
}

/** One statement of a transaction. */
export type PostgresQuery = (text: string, values?: readonly unknown[]) => Promise<readonly PostgresRow[]>;

/** What went wrong with a statement of a transaction, told apart from what its caller throws. */
class StatementFailure extends Error {}

type Attempt =
  | { readonly kind: "rows"; readonly rows: readonly PostgresRow[] }
  /** `away`: not sent. `lost`: sent, and no answer came. `refused`: the server or the driver said no for good. */
  | { readonly kind: "away" | "lost" | "refused"; readonly cause: unknown };

const firstPauseMs = 20;
const longestPauseMs = 500;
/** Texts as they come; every reader knows what its columns are. */
const rowMode = "array";
const rawTypes = { getTypeParser: () => (text: string) => text };

export function createPostgresSession(pool: Pool, where: string, reconnectMs: number): PostgresSession {
  const names = new Map<string, string>();
  let ending: Promise<void> | undefined;
  let isClosed = false;
  /** The connection that had the last answer, for whoever goes on in the same turn of the event loop. */
  let kept: PoolClient | undefined;

  const take = (): PoolClient | Promise<PoolClient> => {
    const client = kept;
    kept = undefined;
    return client ?? pool.connect();
  };

  const giveBack = (client: PoolClient) => {
    if (kept || pool.waitingCount > 0) {
      client.release();
      return;
    }
    kept = client;
    setImmediate(() => {
      if (kept !== client) return;
      kept = undefined;
      client.release();
    });
  };

  const nameOf = (text: string): string => {
    const name = names.get(text) ?? `threadfold_${names.size + 1}`;
    names.set(text, name);
    return name;
  };

  const attempt = async (
    text: string,
    values: readonly unknown[],
    meanwhile?: () => void,
  ): Promise<Attempt> => {
    let client: PoolClient;
    try {
      client = await take();
    } catch (cause) {
      return { kind: isPassing(cause) ? "away" : "refused", cause };
    }
    try {
      const statement = { name: nameOf(text), text, values: [...values], types: rawTypes, rowMode } as const;
      const answer = client.query<(string | null)[]>(statement);
      meanwhile?.();
      const { rows } = await answer;
      giveBack(client);
      return { kind: "rows", rows };
    } catch (cause) {
      client.release(true);
      return { kind: isPassing(cause) ? "lost" : "refused", cause };
    }
  };

  const unknown = (cause: unknown) =>
    new AppendOutcomeUnknownError(
      `${where}: the connection broke while events were being committed, and the server does not say whether they were (${(cause as Error).message}). Retry the same events at the same expected version.`,
      { cause },
    );

  const connected = async (): Promise<PoolClient> => {
    try {
      return await take();
    } catch (cause) {
      throw new StatementFailure("connect", { cause });
    }
  };

  const statementsOn = (client: PoolClient): { query: PostgresQuery } => ({
    async query(text, values = []) {
      try {
        const statement = { text, values: [...values], types: rawTypes, rowMode } as const;
        return (await client.query<(string | null)[]>(statement)).rows;
      } catch (cause) {
        throw new StatementFailure("query", { cause });
      }
    },
  });

  /** False: the connection cannot be used again. */
  const rolledBack = async (client: PoolClient, isLost: boolean): Promise<boolean> => {
    if (isLost) return false;
    return client.query("ROLLBACK").then(
      () => true,
      () => false,
    );
  };

  return {
    where,
    async query(kind, text, values = [], meanwhile) {
      const deadline = performance.now() + reconnectMs;
      let isUnknown = false;
      for (let pauseMs = firstPauseMs; ; pauseMs = Math.min(2 * pauseMs, longestPauseMs)) {
        if (isClosed) throw new LogUnavailableError(`${where} is closed. Open the store again.`);
        const result = await attempt(text, values, meanwhile);
        if (result.kind === "rows") return result.rows;
        const { cause } = result;
        if (result.kind === "lost" && kind !== "read") isUnknown = true;
        const isLast = result.kind === "refused" || performance.now() + pauseMs > deadline;
        if (isLast || (isUnknown && kind === "once")) {
          throw isUnknown && result.kind !== "refused"
            ? unknown(cause)
            : translatePostgresError(cause, where);
        }
        await pause(pauseMs, undefined, { ref: true });
      }
    },
    async transaction(begin, work) {
      const deadline = performance.now() + reconnectMs;
      for (let pauseMs = firstPauseMs; ; pauseMs = Math.min(2 * pauseMs, longestPauseMs)) {
        if (isClosed) throw new LogUnavailableError(`${where} is closed. Open the store again.`);
        let client: PoolClient | undefined;
        let isCommitting = false;
        try {
          client = await connected();
          const { query } = statementsOn(client);
          await query(begin);
          const result = await work(query);
          isCommitting = true;
          await query("COMMIT");
          giveBack(client);
          return result;
        } catch (error) {
          const isOurs = error instanceof StatementFailure;
          const isIntact = client && (await rolledBack(client, isOurs && isPassing(error.cause)));
          client?.release(!isIntact);
          if (!isOurs) throw error;
          const { cause } = error;
          if (isCommitting && isPassing(cause)) throw unknown(cause);
          if (!isPassing(cause) || performance.now() + pauseMs > deadline) {
            throw translatePostgresError(cause, where);
          }
          await pause(pauseMs, undefined, { ref: true });
        }
      }
    },
    close() {
      isClosed = true;
      ending ??= pool.end();
      return ending;
    },
  };
}

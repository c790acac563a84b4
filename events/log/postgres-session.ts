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
  /** @throws {LogUnavailableError} @throws {LogFormatError} @throws {AppendOutcomeUnknownError} not for reads */
  query(kind: StatementKind, text: string, values?: readonly unknown[]): Promise<readonly PostgresRow[]>;
  close(): Promise<void>;
}

type Attempt =
  | { readonly kind: "rows"; readonly rows: readonly PostgresRow[] }
  /** `away`: not sent. `lost`: sent, and no answer came. `refused`: the server or the driver said no for good. */
  | { readonly kind: "away" | "lost" | "refused"; readonly cause: unknown };

const firstPauseMs = 20;
const longestPauseMs = 500;
/** Texts as they come; every reader knows what its columns are. */
const rawTypes = { getTypeParser: () => (text: string) => text };

export function createPostgresSession(pool: Pool, where: string, reconnectMs: number): PostgresSession {
  const names = new Map<string, string>();
  let ending: Promise<void> | undefined;
  let isClosed = false;

  const nameOf = (text: string): string => {
    const name = names.get(text) ?? `threadfold_${names.size + 1}`;
    names.set(text, name);
    return name;
  };

  const attempt = async (text: string, values: readonly unknown[]): Promise<Attempt> => {
    let client: PoolClient;
    try {
      client = await pool.connect();
    } catch (cause) {
      return { kind: isPassing(cause) ? "away" : "refused", cause };
    }
    try {
      const statement = { name: nameOf(text), text, values: [...values], types: rawTypes };
      const { rows } = await client.query<(string | null)[]>({ ...statement, rowMode: "array" });
      client.release();
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

  return {
    where,
    async query(kind, text, values = []) {
      const deadline = performance.now() + reconnectMs;
      let isUnknown = false;
      for (let pauseMs = firstPauseMs; ; pauseMs = Math.min(2 * pauseMs, longestPauseMs)) {
        if (isClosed) throw new LogUnavailableError(`${where} is closed. Open the store again.`);
        const result = await attempt(text, values);
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
    close() {
      isClosed = true;
      ending ??= pool.end();
      return ending;
    },
  };
}

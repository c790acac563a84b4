import { AppendOutcomeUnknownError, LogFormatError, LogUnavailableError } from "./event-log.ts";

/** Primary result codes of SQLite (https://sqlite.org/rescode.html). */
const code = {
  error: 1,
  busy: 5,
  readOnly: 8,
  ioError: 10,
  corrupt: 11,
  full: 13,
  cannotOpen: 14,
  notADatabase: 26,
};

/** What SQLite calls them, for the errors to which a driver adds no code. */
const codeByMessage: Readonly<Record<string, number>> = {
  "database is locked": code.busy,
  "attempt to write a readonly database": code.readOnly,
  "disk I/O error": code.ioError,
  "database disk image is malformed": code.corrupt,
  "database or disk is full": code.full,
  "unable to open database file": code.cannotOpen,
  "file is not a database": code.notADatabase,
};
/** Primary result code of an error that SQLite raised; undefined for any other error. */
function codeOf(error: unknown): number | undefined {
  if (!(error instanceof Error) || !("code" in error) || error.code !== "ERR_SQLITE_ERROR") return undefined;
  if ("errcode" in error && typeof error.errcode === "number") return error.errcode & 0xff;
  const known = Object.entries(codeByMessage).find(([message]) => error.message.includes(message));
  return known?.[1] ?? code.error;
}

export function isSqliteError(error: unknown): boolean {
  return codeOf(error) !== undefined;
}

export function isBusy(error: unknown): boolean {
  return codeOf(error) === code.busy;
}

export function cannotOpen(error: unknown): boolean {
  return codeOf(error) === code.cannotOpen || codeOf(error) === code.readOnly;
}

/** The typed error for what SQLite reports; errors of other origin come back as they are. */
export function translateSqliteError(cause: unknown, path: string): unknown {
  const unavailable = (why: string) => new LogUnavailableError(`${path}: ${why}`, { cause });
  switch (codeOf(cause)) {
    case undefined:
      return cause;
    case code.busy:
      return unavailable("another process held the database lock too long. Nothing was written; try again.");
    case code.readOnly:
      return unavailable(
        "the file or its folder cannot be written. Nothing was written; check their permissions.",
      );
    case code.full:
      return unavailable("the disk is full. Nothing was written; free some space and try again.");
    case code.cannotOpen:
      return unavailable(
        "the file cannot be opened. Check that it is there and that you may read and write it.",
      );
    // Every statement is one of ours: one that fails in itself does not fit the tables of the file.
    case code.error:
    case code.corrupt:
    case code.notADatabase:
      return new LogFormatError(
        `${path} is damaged, or no SQLite database: ${(cause as Error).message}. Restore it from a backup.`,
        { cause },
      );
    default:
      return unavailable(`SQLite reports "${(cause as Error).message}". Nothing was written.`);
  }
}

/** As `translateSqliteError`, for a failed COMMIT: after an I/O error nobody knows whether it reached the disk. */
export function translateCommitError(cause: unknown, path: string): unknown {
  if (codeOf(cause) !== code.ioError) return translateSqliteError(cause, path);
  return new AppendOutcomeUnknownError(
    `${path}: the disk failed while events were being committed (${(cause as Error).message}). ` +
      "Retry the same events at the same expected version.",
    { cause },
  );
}

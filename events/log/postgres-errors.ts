import { LogFormatError, LogUnavailableError } from "./event-log.ts";

/** SQLSTATE of an error that the server reported; undefined for errors of the network or the driver. */
function sqlStateOf(error: unknown): string | undefined {
  if (!(error instanceof Error) || !("code" in error) || !("severity" in error)) return undefined;
  return typeof error.code === "string" && /^[0-9A-Z]{5}$/.test(error.code) ? error.code : undefined;
}

/** Server going down or coming up, connections broken or all taken: another attempt may succeed. */
const passing = /^(08...|57P0[1235]|53300)$/;

/** The network or the server failed in a way that another connection may not meet. */
export function isPassing(error: unknown): boolean {
  const state = sqlStateOf(error);
  if (state !== undefined) return passing.test(state);
  return !isFinal(error);
}

const tlsProblem =
  /does not support SSL|certificate|SELF_SIGNED|UNABLE_TO_VERIFY|UNABLE_TO_GET_ISSUER|ERR_TLS|ERR_SSL|wrong version number/i;
const clientProblem = /SASL|password must be a string|client password/i;

function textOf(error: unknown): string {
  const { message = "", code = "" } = error as { message?: string; code?: string };
  return `${message} ${code}`;
}

/** Trying again changes nothing: TLS, credentials, a name that does not exist. */
function isFinal(error: unknown): boolean {
  const text = textOf(error);
  return tlsProblem.test(text) || clientProblem.test(text) || /ENOTFOUND/.test(text);
}

const reasons: readonly (readonly [RegExp, string])[] = [
  [/^28P01|^28000/, "the server refuses the user name or password. Check the credentials in the store URL."],
  [/^3D000/, "the database does not exist. Create it first, for example with: createdb <name>"],
  [
    /^42501/,
    "the user may not do this. Nothing was written; grant it the right to create and write the schema.",
  ],
  [/^53100/, "the server's disk is full. Nothing was written; free some space there and try again."],
  [/^53[0-9]00/, "the server is out of connections or memory. Nothing was written; try again later."],
  [
    /^25006/,
    "the server or the connection is read-only. Nothing was written; use the primary server, and check default_transaction_read_only.",
  ],
  [
    /^57014/,
    "the server stopped a statement: somebody cancelled it, or it took longer than statement_timeout. Nothing was written; try again, or raise that limit.",
  ],
  [/^55P03/, "others held the lock for writing too long. Nothing was written; try again."],
  [/^(57P0[1235]|08)/, "the server is stopping, starting or lost the connection. Try again when it runs."],
];

/** The typed error, one line, for what the server or the driver reports. */
export function translatePostgresError(cause: unknown, where: string): Error {
  const unavailable = (why: string) => new LogUnavailableError(`${where}: ${why}`, { cause });
  const state = sqlStateOf(cause);
  const { message } = cause as Error;
  if (state !== undefined) {
    const known = reasons.find(([pattern]) => pattern.test(state));
    if (known) return unavailable(known[1]);
    // Every statement is one of ours: one that fails in itself does not fit the tables it meets.
    if (state.startsWith("42") || state.startsWith("XX")) {
      return new LogFormatError(
        `${where} is damaged, or its tables were changed: ${message}. Restore it from a backup.`,
        { cause },
      );
    }
    return unavailable(`the server reports "${message}" (${state}). Nothing was written.`);
  }
  const text = textOf(cause);
  if (tlsProblem.test(text)) {
    return unavailable(
      `no TLS connection can be made (${message}). Check sslmode in the store URL and the server's certificate.`,
    );
  }
  if (clientProblem.test(text)) {
    return unavailable("the server asks for a password that the store URL does not have. Add it to the URL.");
  }
  if (/timeout/i.test(text)) {
    return unavailable("the server does not answer (ETIMEDOUT). Check host, port and firewall.");
  }
  const { code = "connection error" } = cause as { code?: string };
  return unavailable(
    `the server cannot be reached (${code}). Check that it runs, and host and port in the URL.`,
  );
}

import type { Pool, PoolConfig } from "pg";
import { StoreUrlError } from "../store-url-error.ts";
import { serverOf } from "../without-credentials.ts";
import { checkNamedFile } from "./named-file.ts";

/** The driver of a store is not installed. */
export class MissingDriverError extends Error {
  override readonly name = "MissingDriverError";
  constructor(
    readonly driver: string,
    cause: unknown,
  ) {
    super(`The package "${driver}" is not installed, and this store needs it. Run: npm install ${driver}`, {
      cause,
    });
  }
}

export interface PostgresOptions {
  /** `full` (default): an acknowledged append survives a crash of the server. `normal`: the last ones may be lost. */
  readonly synchronous?: "full" | "normal";
  /** Refuses every write. */
  readonly readOnly?: boolean;
  /** How long a write waits for others that write, in milliseconds. Default 10,000. */
  readonly busyTimeoutMs?: number;
  /** How often subscriptions look for news for which no notification came, in milliseconds. Default 250. */
  readonly pollIntervalMs?: number;
  /** How long a connection may take to be made, in milliseconds. Default 10,000. */
  readonly connectTimeoutMs?: number;
  /** How long the answer of one statement may take, in milliseconds. Default 30,000. */
  readonly callTimeoutMs?: number;
  /** For how long a call tries again while the server is away, in milliseconds. Default 10,000. */
  readonly reconnectMs?: number;
  /** Connections at most. Default 10. With 1 subscriptions get no notifications and look every `pollIntervalMs`. */
  readonly maxConnections?: number;
}

/** A URL taken apart: what the driver gets, and what is ours. */
export interface PostgresAddress {
  readonly connectionString: string;
  /** Schema that holds the tables: `?schema=<name>`, default `threadfold`. */
  readonly schema: string;
  /** Host, port and database, without credentials: for messages. */
  readonly where: string;
  /** Settings of the session that the URL asks for: `?options=-c …`. */
  readonly options?: string;
}

const defaultSchema = "threadfold";
const schemaForm = /^[a-z_][a-z0-9_]{0,62}$/;

/** Those of the server itself. */
const reservedSchema = /^(?:pg_|information_schema$)/;

const certificateFiles = ["sslrootcert", "sslcert", "sslkey"] as const;

/** What the driver takes for `verify-full`, too, with lines of warning that a later version may take it otherwise. */
const verifying = /^(prefer|require|verify-ca)$/;

const unreadable =
  "The PostgreSQL URL cannot be read. Write postgres://user:password@host:5432/database, special characters of the password percent-encoded.";

/** @throws {StoreUrlError} the URL cannot be read, or names a schema that is none or a file that is not there */
export function parsePostgresUrl(url: string): PostgresAddress {
  if (!URL.canParse(url)) throw new StoreUrlError(unreadable);
  const parsed = new URL(url);
  // A password with / ? or # in it ends the host too early: half of it would be shown as the place of the database.
  const server = serverOf(url);
  if (!URL.canParse(server) || new URL(server).host !== parsed.host) throw new StoreUrlError(unreadable);
  const given = parsed.searchParams;
  // The driver takes this word for the name of a file; Node's own authorities are what it trusts without one.
  if (given.get("sslrootcert") === "system") {
    given.delete("sslrootcert");
    given.set("sslmode", "verify-full");
  }
  for (const name of certificateFiles) {
    const path = given.get(name);
    if (path !== null) checkNamedFile("PostgreSQL", name, path);
  }
  const schema = given.get("schema") ?? defaultSchema;
  if (!schemaForm.test(schema) || reservedSchema.test(schema)) {
    throw new StoreUrlError(
      `"${schema.slice(0, 80)}" is no schema name. Use 1 to 63 of the characters a-z 0-9 _, starting with a letter, and not with pg_.`,
    );
  }
  given.delete("schema");
  const isAsLibpq = given.get("uselibpqcompat") === "true";
  if (verifying.test(given.get("sslmode") ?? "") && !isAsLibpq) given.set("sslmode", "verify-full");
  const options = given.get("options");
  // In the URL they would take the place of ours.
  given.delete("options");
  const host = parsed.host || given.get("host") || "localhost";
  const address = { connectionString: parsed.href, schema, where: `postgres://${host}${parsed.pathname}` };
  return options === null ? address : { ...address, options };
}

/** What names the store, whatever its URL says beside: how to connect is no other store. @throws {StoreUrlError} */
export function postgresIdentity(url: string): string {
  const { where, schema, connectionString } = parsePostgresUrl(url);
  const { searchParams: given, username, pathname } = new URL(connectionString);
  const server = where.toLowerCase().replace(/:5432(?=\/|$)/, "");
  const names: string[] = [];
  if (schema !== defaultSchema) names.push(`schema=${schema}`);
  const port = given.get("port") ?? "5432";
  if (port !== "5432") names.push(`port=${port}`);
  // The user's own.
  if (pathname.length <= 1) names.push(`user=${given.get("user") ?? username}`);
  return names.length === 0 ? server : `${server}?${names.join("&")}`;
}

/** Loads the driver and makes a pool; connects to nothing yet. @throws {MissingDriverError} */
export async function createPostgresPool(
  address: PostgresAddress,
  options: PostgresOptions = {},
): Promise<Pool> {
  const { connectTimeoutMs = 10_000, callTimeoutMs = 30_000, busyTimeoutMs = 10_000 } = options;
  const settings = [
    `lock_timeout=${Math.max(1, Math.round(busyTimeoutMs))}`,
    // Survives whatever the role or the database sets.
    `synchronous_commit=${options.synchronous === "normal" ? "off" : "on"}`,
    // Hashes and keys are read in this form, and an append must see what was committed while it waited for its turn.
    "bytea_output=hex",
    "default_transaction_isolation=read\\ committed",
    ...(options.readOnly ? ["default_transaction_read_only=on"] : []),
  ];
  const config: PoolConfig = {
    connectionString: address.connectionString,
    application_name: "threadfold",
    max: options.maxConnections ?? 10,
    connectionTimeoutMillis: connectTimeoutMs,
    query_timeout: callTimeoutMs,
    keepAlive: true,
    // Of a setting that is given twice the last one holds.
    options: [address.options ?? "", ...settings.map((setting) => `-c ${setting}`)].join(" ").trim(),
    // An idle store keeps no process alive.
    allowExitOnIdle: true,
  };
  const { default: driver } = await import("pg").catch((cause) => {
    throw new MissingDriverError("pg", cause);
  });
  const pool = new driver.Pool(config);
  // A connection that breaks while idle is replaced by the next call, which meets the error if it lasts.
  pool.on("error", () => undefined);
  // One that breaks between two statements of a caller would otherwise end the process.
  pool.on("connect", (client) => client.on("error", () => undefined));
  return pool;
}

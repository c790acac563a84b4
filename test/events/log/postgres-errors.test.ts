import { once } from "node:events";
import { createServer, type Server } from "node:net";
import pg from "pg";
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from "vitest";
import { exitCodeFor, exitCodes } from "../../../apps/cli/exit-codes.ts";
import { chainStart, findBrokenLink } from "../../../events/hash-chain.ts";
import {
  AppendOutcomeUnknownError,
  LogFormatError,
  LogUnavailableError,
} from "../../../events/log/event-log.ts";
import { openPostgres } from "../../../events/log/postgres.ts";
import {
  createPostgresPool,
  type PostgresOptions,
  parsePostgresUrl,
  postgresIdentity,
} from "../../../events/log/postgres-driver.ts";
import { translatePostgresError } from "../../../events/log/postgres-errors.ts";
import { openStore, StoreUrlError } from "../../../events/open-store.ts";
import { collect, newEvents } from "./new-events.ts";
import { hasPostgres, type PostgresServer, serverStartMs, startPostgres } from "./postgres-server.ts";

const stream = "thread-1";

async function listen(server: Server): Promise<number> {
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  onTestFinished(() => void server.close());
  const address = server.address();
  if (address === null || typeof address === "string") throw new Error("A port was asked for");
  return address.port;
}

/** The message of a refusal, which is one line. */
async function refusal(opening: Promise<unknown>): Promise<string> {
  const error = await opening.then(
    () => undefined,
    (reason: unknown) => reason,
  );
  expect(error).toBeInstanceOf(LogUnavailableError);
  const { message } = error as Error;
  expect(message).not.toContain("\n");
  expect(message).not.toContain("secret");
  return message;
}

test("a host that nobody answers on, and a port that nobody listens on", async () => {
  const silent = createServer(() => undefined);
  const port = await listen(silent);
  const url = `postgres://ada:secret@127.0.0.1:${port}/threads`;
  expect(await refusal(openPostgres(url, { connectTimeoutMs: 100 }))).toContain(
    `postgres://127.0.0.1:${port}/threads: the server does not answer (ETIMEDOUT)`,
  );
  const closed = createServer();
  const freePort = await listen(closed);
  closed.close();
  expect(await refusal(openPostgres(`postgres://ada:secret@127.0.0.1:${freePort}/threads`))).toContain(
    "the server cannot be reached (ECONNREFUSED)",
  );
  expect(await refusal(openPostgres("postgres://ada:secret@no-such-host.invalid/threads"))).toMatch(
    /cannot be reached \((ENOTFOUND|EAI_AGAIN)\)/,
  );
});

/** The message about a URL that cannot be used, which is one line. */
async function urlRefusal(url: string): Promise<string> {
  const error = await openPostgres(url).catch((reason: unknown) => reason);
  expect(error).toBeInstanceOf(StoreUrlError);
  expect(exitCodeFor(error)).toBe(exitCodes.usage);
  const { message } = error as Error;
  expect(message).not.toMatch(/\n|secret/);
  return message;
}

test.each([
  "postgres://ada:secret@host:port/threads",
  "postgres://ada:12/secret@host/threads",
  "postgres://ada:12?secret@host/threads",
  "postgres://ada:12#secret@host/threads",
])("a URL that cannot be read: %s", async (url) => {
  expect(await urlRefusal(url)).toContain("The PostgreSQL URL cannot be read");
});

test("schemas that are none, names that belong to the server, and files of certificates that are not there", async () => {
  const url = "postgres://ada:secret@host/threads";
  for (const schema of ["a;b", "pg_foo", "pg_catalog", "information_schema"])
    expect(await urlRefusal(`${url}?schema=${schema}`)).toContain("no schema name");
  expect(await urlRefusal(`${url}?sslrootcert=/no/such.pem`)).toContain(
    "sslrootcert of the PostgreSQL URL names cannot be read (ENOENT): /no/such.pem",
  );
  expect(await urlRefusal(`${url}?sslcert=/`)).toContain("sslcert of the PostgreSQL URL");
});

test("`sslrootcert=system` verifies with the authorities that Node trusts", () => {
  const { connectionString } = parsePostgresUrl("postgres://host/threads?sslrootcert=system");
  expect(connectionString).toBe("postgres://host/threads?sslmode=verify-full");
});

test("what names a store is its server, database and schema", () => {
  const id = postgresIdentity("postgres://ada:secret@db/threads");
  for (const same of [
    "postgres://DB:5432/threads?sslmode=disable&application_name=me@work",
    "postgres://bob@db/threads?schema=threadfold&options=-c%20geqo%3Doff",
  ])
    expect(postgresIdentity(same)).toBe(id);
  const others = [
    "postgres://db:5433/threads",
    "postgres://db/other",
    "postgres://db/threads?schema=other",
    "postgres:///threads?host=/run",
    "postgres:///threads?host=/run&port=5433",
    "postgres://ada@db",
    "postgres://bob@db",
  ];
  expect(new Set([id, ...others.map(postgresIdentity)]).size).toBe(others.length + 1);
});

test("a full disk is said to be one, and that nothing was written", () => {
  const full = Object.assign(new Error("could not extend file: No space left on device"), {
    code: "53100",
    severity: "ERROR",
  });
  const error = translatePostgresError(full, "postgres://db/threads");
  expect(error).toBeInstanceOf(LogUnavailableError);
  expect(error.message).toBe(
    "postgres://db/threads: the server's disk is full. Nothing was written; free some space there and try again.",
  );
});

describe.skipIf(!hasPostgres)("on a real server", () => {
  let server: PostgresServer;
  beforeAll(async () => {
    server = await startPostgres();
  }, serverStartMs);
  afterAll(async () => {
    await server?.stop();
  });
  const open = async (url: string, options?: PostgresOptions) => {
    const store = await openPostgres(url, options);
    onTestFinished(() => store.log.close());
    return store;
  };
  const schemaOf = (url: string) => new URL(url).searchParams.get("schema") ?? "";

  test("wrong password, unknown user, missing database, TLS that the server does not speak", async () => {
    const refused = "the server refuses the user name or password";
    expect(await refusal(openPostgres(server.url({ password: "secret" })))).toContain(refused);
    expect(await refusal(openPostgres(server.url({ user: "nobody", password: "secret" })))).toContain(
      refused,
    );
    expect(await refusal(openPostgres(server.url({ database: "nowhere" })))).toContain(
      "the database does not exist",
    );
    const warnings: Error[] = [];
    const warned = (warning: Error) => warnings.push(warning);
    process.on("warning", warned);
    onTestFinished(() => void process.off("warning", warned));
    for (const mode of ["verify-full", "verify-ca", "require", "prefer"]) {
      expect(await refusal(openPostgres(server.url({ query: `?sslmode=${mode}` })))).toContain(
        "no TLS connection can be made",
      );
    }
    // The driver would say several lines of its own beside the one that says it.
    expect(warnings).toEqual([]);
  });

  test("a schema that is a word of SQL", async () => {
    for (const schema of ["order", "left"])
      expect(await urlRefusal(server.url({ query: `?schema=${schema}` }))).toContain(
        `"${schema}" is a word of SQL. Use another name for the schema, like "${schema}_threads".`,
      );
    const { log } = await open(server.url({ query: "?schema=values" }));
    await log.append(stream, newEvents(2), { expectedVersion: 0 });
    await log.append(stream, newEvents(1), { expectedVersion: 2 });
    expect(await collect(log.readAll())).toHaveLength(3);
  });

  test.each([
    "bytea_output = escape",
    "default_transaction_isolation = 'repeatable read'",
    "default_transaction_isolation = 'serializable'",
    "DateStyle = 'German'",
    "extra_float_digits = -15",
    "quote_all_identifiers = on",
    "search_path = ''",
    "standard_conforming_strings = off",
    "array_nulls = off",
    "IntervalStyle = sql_standard",
    "row_security = off",
    "default_transaction_deferrable = on",
    "TimeZone = 'Asia/Kathmandu'",
    "synchronous_commit = off",
    "lock_timeout = 1",
  ])("what the database sets for all changes nothing: %s", async (setting) => {
    await server.sql(`ALTER DATABASE postgres SET ${setting}`);
    onTestFinished(async () => {
      await server.sql("ALTER DATABASE postgres RESET ALL");
    });
    const url = server.newUrl();
    const stores = await Promise.all(Array.from({ length: 4 }, () => open(url)));
    const appends = stores.flatMap(({ log }, index) =>
      Array.from({ length: 10 }, async (_, version) => {
        await log.append(`thread-${index}-${version}`, newEvents(3), { expectedVersion: 0 });
        await log.append(`thread-${index}-${version}`, newEvents(1), { expectedVersion: 3 });
      }),
    );
    await Promise.all(appends);
    const [first] = stores;
    const events = first ? await collect(first.log.readAll()) : [];
    expect(events).toHaveLength(160);
    for (const name of new Set(events.map((event) => event.stream))) {
      const chain = events.filter((event) => event.stream === name);
      expect(findBrokenLink(chain, { version: 0, hash: chainStart })).toBeUndefined();
    }
    const { sha256 } = (await first?.blobs.put("bytes", "text/plain")) ?? { sha256: "" };
    expect(new TextDecoder().decode(await first?.blobs.get(sha256))).toBe("bytes");
    for await (const { writtenAt } of first?.blobs.list() ?? [])
      expect(Math.abs(Date.parse(writtenAt) - Date.now())).toBeLessThan(600_000);
    const queued = { threadId: "a", agent: "a", request: null, afterVersion: 0, queuedAt: "" };
    await first?.queue.add({ ...queued, runId: "run" });
    const claim = { owner: "one", agent: "a", leaseMs: 60_000, limit: 9 };
    expect(await first?.queue.claim(claim)).toHaveLength(1);
    expect(await first?.queue.claim(claim)).toEqual([]);
    await first?.side.put("kind", "key", { a: "\\n'" });
    expect(await first?.side.get("kind", "key")).toMatchObject({ value: { a: "\\n'" } });
  });

  test("options in the URL are kept, and take the place of none of ours", async () => {
    const address = parsePostgresUrl(
      server.url({ query: "?options=-c%20bytea_output%3Descape%20-c%20geqo%3Doff" }),
    );
    const pool = await createPostgresPool(address);
    const setting = async (name: string) => (await pool.query(`SHOW ${name}`)).rows[0][name];
    expect(await setting("bytea_output")).toBe("hex");
    expect(await setting("synchronous_commit")).toBe("on");
    expect(await setting("geqo")).toBe("off");
    await pool.end();
  });

  test.each([
    ["default_transaction_read_only = on", "read-only. Nothing was written; use the primary server"],
    ["statement_timeout = 1000", "it took longer than statement_timeout"],
  ])("what a database sets against writing is named: %s", async (setting, message) => {
    const url = server.newUrl();
    await (await openPostgres(url)).log.close();
    const holder = new pg.Client({ connectionString: server.url({}) });
    await holder.connect();
    onTestFinished(() => holder.end());
    await holder.query(
      `BEGIN; SELECT pg_advisory_xact_lock('${schemaOf(url)}.events'::regclass::oid::bigint)`,
    );
    await server.sql(`ALTER DATABASE postgres SET ${setting}`);
    onTestFinished(async () => {
      await server.sql("BEGIN READ WRITE; ALTER DATABASE postgres RESET ALL; COMMIT");
    });
    const { log } = await open(url);
    const refused = refusal(log.append(stream, newEvents(1), { expectedVersion: 0 }));
    if (setting.startsWith("default")) await holder.query("COMMIT");
    expect(await refused).toContain(message);
    expect(await collect(log.readAll())).toEqual([]);
  });

  test("one connection is enough for a subscription and the appends that it waits for", async () => {
    const { log } = await open(server.newUrl(), { maxConnections: 1, pollIntervalMs: 20 });
    const over = new AbortController();
    const seen: number[] = [];
    const following = (async () => {
      for await (const item of log.subscribe({ signal: over.signal }))
        if (item.kind === "event") seen.push(item.event.version);
    })();
    await log.append(stream, newEvents(2), { expectedVersion: 0 });
    await expect.poll(() => seen).toEqual([1, 2]);
    await log.append(stream, newEvents(1), { expectedVersion: 2 });
    await expect.poll(() => seen).toEqual([1, 2, 3]);
    over.abort();
    await following;
  });

  test("files of threads stay where they are when only the way to connect changes", async () => {
    const url = server.newUrl();
    const folderOf = async (address: string) => {
      const store = await openStore(address);
      await store.close();
      return store.folder;
    };
    const folder = await folderOf(url);
    expect(await folderOf(`${url}&sslmode=disable`)).toBe(folder);
    expect(await folderOf(url.replace("postgres:", "postgresql:"))).toBe(folder);
    expect(await folderOf(server.newUrl())).not.toBe(folder);
  });

  test("a store that a newer version made is refused", async () => {
    const url = server.newUrl();
    await (await openPostgres(url)).log.close();
    await server.sql(`UPDATE ${schemaOf(url)}.meta SET value = '99' WHERE key = 'schema'`);
    await expect(openPostgres(url)).rejects.toThrow(LogFormatError);
    await expect(openPostgres(url)).rejects.toThrow(/format 99.*update Threadfold/);
  });

  test("many processes may make the tables at the same time", async () => {
    const url = server.newUrl();
    const stores = await Promise.all(Array.from({ length: 5 }, () => open(url)));
    for (const [version, { log }] of stores.entries()) {
      await log.append(stream, newEvents(1), { expectedVersion: version });
    }
  });

  test("a row that is gone is named when its stream is read", async () => {
    const url = server.newUrl();
    const { log } = await open(url);
    await log.append(stream, newEvents(3), { expectedVersion: 0 });
    for (const [version, options] of [
      [2, {}],
      [2, { backwards: true }],
      [3, {}],
    ] as const) {
      await server.sql(`DELETE FROM ${schemaOf(url)}.events WHERE version = ${version}`);
      await expect(collect(log.read(stream, options))).rejects.toMatchObject({
        name: "DamagedEventError",
        version: 2,
      });
    }
  });

  test("read-only refuses every write and makes nothing", async () => {
    const url = server.newUrl();
    expect(await refusal(openPostgres(url, { readOnly: true }))).toContain("opened for reading only");
    await (await open(url)).log.append(stream, newEvents(1), { expectedVersion: 0 });
    const { log, side, blobs } = await open(url, { readOnly: true });
    expect(await collect(log.readAll())).toHaveLength(1);
    await refusal(log.append(stream, newEvents(1), { expectedVersion: 1 }));
    await refusal(log.erase(stream));
    expect(await refusal(side.put("lease", "a", 1))).toContain("read-only");
    await refusal(blobs.put("text", "text/plain"));
  });

  test("`synchronous`, `busyTimeoutMs` and `maxConnections` reach the server", async () => {
    const url = server.newUrl();
    const { log } = await open(url, { busyTimeoutMs: 50 });
    await log.append(stream, newEvents(1), { expectedVersion: 0 });
    const other = new pg.Client({ connectionString: server.url({}) });
    await other.connect();
    onTestFinished(() => other.end());
    await other.query(
      `BEGIN; SELECT pg_advisory_xact_lock('${schemaOf(url)}.events'::regclass::oid::bigint)`,
    );
    expect(await refusal(log.append(stream, newEvents(1), { expectedVersion: 1 }))).toContain(
      "held the lock",
    );
    await other.query("COMMIT");
    await log.append(stream, newEvents(1), { expectedVersion: 1 });

    for (const [synchronous, setting] of [
      ["normal", "off"],
      ["full", "on"],
    ] as const) {
      const pool = await createPostgresPool(parsePostgresUrl(url), { synchronous, maxConnections: 2 });
      const asked = Array.from({ length: 8 }, () =>
        pool.query("SELECT pg_backend_pid() AS pid, current_setting('synchronous_commit') AS setting"),
      );
      const rows = (await Promise.all(asked)).map((result) => result.rows[0]);
      await pool.end();
      expect(new Set(rows.map((row) => row.setting))).toEqual(new Set([setting]));
      expect(new Set(rows.map((row) => row.pid)).size).toBeLessThanOrEqual(2);
    }
  });

  test("`callTimeoutMs` ends the wait for an answer that does not come; the outcome is unknown until it is asked again", async () => {
    const url = server.newUrl();
    const patient = await open(url);
    const { log } = await open(url, { callTimeoutMs: 2000, reconnectMs: 0 });
    await log.append(stream, newEvents(1), { expectedVersion: 0 });
    const other = new pg.Client({ connectionString: server.url({}) });
    await other.connect();
    onTestFinished(() => other.end());
    await other.query(
      `BEGIN; SELECT pg_advisory_xact_lock('${schemaOf(url)}.events'::regclass::oid::bigint)`,
    );
    const batch = newEvents(1);
    await expect(log.append(stream, batch, { expectedVersion: 1 })).rejects.toThrow(
      AppendOutcomeUnknownError,
    );
    await other.query("COMMIT");
    expect(await patient.log.append(stream, batch, { expectedVersion: 1 })).toMatchObject({ version: 2 });
    expect(await collect(patient.log.read(stream))).toHaveLength(2);
  });

  test("in another schema is another store; the same URL is encrypted once it was", async () => {
    const url = server.newUrl();
    const store = await openStore(url, { encrypt: true });
    const { sha256 } = await store.blobs.put("content", "text/plain");
    await store.close();
    const again = await openStore(url);
    onTestFinished(() => again.close());
    expect("keys" in again).toBe(true);
    expect(new TextDecoder().decode(await again.blobs.get(sha256))).toBe("content");
    expect(again.url).not.toContain("password");
    const other = await openStore(server.newUrl());
    onTestFinished(() => other.close());
    expect("keys" in other).toBe(false);
    expect(other.folder).not.toBe(again.folder);
  });

  test("a connection that the server ends costs nothing: appends, reads and tails go on", async () => {
    const url = server.newUrl();
    const { log } = await open(url, { pollIntervalMs: 20 });
    const seen: number[] = [];
    const tail = (async () => {
      for await (const item of log.subscribe()) {
        if (item.kind === "event") seen.push(item.event.version);
        if (seen.length === 30) return;
      }
    })();
    for (let version = 0; version < 30; version++) {
      if (version % 10 === 5) {
        await server.sql(
          "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE application_name = 'threadfold'",
        );
      }
      await log.append(stream, newEvents(1), { expectedVersion: version });
    }
    await tail;
    expect(seen).toEqual(Array.from({ length: 30 }, (_, index) => index + 1));
  });

  test("a server that stops in the middle of appends: none is lost or doubled when it is back", {
    timeout: 120_000,
  }, async () => {
    const { log } = await open(server.newUrl(), { reconnectMs: 60_000 });
    const acknowledged: string[] = [];
    let isStopped = false;
    const write = async (name: string) => {
      for (let version = 0; version < 10 || !isStopped; version++) {
        const [event] = newEvents(1);
        if (!event) throw new Error("one event");
        await log.append(name, [event], { expectedVersion: version });
        acknowledged.push(event.id);
      }
    };
    const writing = Promise.all(["thread-a", "thread-b", "thread-c"].map(write));
    await server.kill();
    await server.restart();
    isStopped = true;
    await writing;
    const ids = (await collect(log.readAll())).map(({ id }) => id);
    expect([...ids].sort()).toEqual([...acknowledged].sort());
  });

  test("a server that stays away: what was under way is unknown, what was not sent is not written", async () => {
    const { log, side } = await open(server.newUrl(), { reconnectMs: 200 });
    await log.append(stream, newEvents(1), { expectedVersion: 0 });
    await server.kill();
    try {
      const batch = newEvents(1);
      const error = await log
        .append(stream, batch, { expectedVersion: 1 })
        .catch((reason: unknown) => reason);
      expect([AppendOutcomeUnknownError, LogUnavailableError]).toContain((error as Error).constructor);
      await refusal(log.append(stream, batch, { expectedVersion: 1 }));
      await refusal(log.head(stream));
      await refusal(side.get("lease", "a"));
    } finally {
      await server.restart();
    }
    expect(await log.head(stream)).toMatchObject({ version: 1 });
  });
});

test("an append whose answer is lost is unknown; the same one again gives the first result", {
  skip: !hasPostgres,
}, async () => {
  const server = await startPostgres();
  onTestFinished(() => server.stop());
  // A proxy that lets a statement reach the server and keeps the answer.
  const { createConnection } = await import("node:net");
  let isDeaf = false;
  const proxy = createServer((client) => {
    const upstream = createConnection(server.port, "127.0.0.1");
    client.pipe(upstream);
    upstream.on("data", (chunk) => {
      if (isDeaf) {
        client.destroy();
        upstream.destroy();
      } else client.write(chunk);
    });
    for (const socket of [client, upstream]) socket.on("error", () => undefined);
    client.on("close", () => upstream.destroy());
    upstream.on("close", () => client.destroy());
  });
  const port = await listen(proxy);
  const url = new URL(server.newUrl());
  url.port = String(port);
  const { log } = await openPostgres(url.href, { reconnectMs: 100 });
  await log.append(stream, newEvents(1), { expectedVersion: 0 });
  isDeaf = true;
  const batch = newEvents(2);
  await expect(log.append(stream, batch, { expectedVersion: 1 })).rejects.toThrow(AppendOutcomeUnknownError);
  isDeaf = false;
  const result = await log.append(stream, batch, { expectedVersion: 1 });
  expect(result.version).toBe(3);
  expect(await collect(log.read(stream, { from: 2 }))).toEqual(result.events);
  await log.close();
});

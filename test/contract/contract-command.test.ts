import { spawn } from "node:child_process";
import { fileURLToPath } from "node:url";
import * as client from "@kurrent/kurrentdb-client";
import { afterAll, beforeAll, describe, expect, test, vi } from "vitest";
import { openKurrentDb } from "../../events/log/kurrentdb.ts";
import { startDoubleProcess } from "../events/log/event-store-double/start-process.ts";
import { collect, newEvents } from "../events/log/new-events.ts";
import {
  hasPostgres,
  type PostgresServer,
  serverStartMs,
  startPostgres,
} from "../events/log/postgres-server.ts";

vi.setConfig({ testTimeout: 300_000 });

const script = fileURLToPath(new URL("run.ts", import.meta.url));

/** What `npm run contract --` runs. */
async function contract(...args: readonly string[]) {
  const env: NodeJS.ProcessEnv = { ...process.env };
  // Variables of the vitest around it would change the one that it starts.
  for (const name of Object.keys(env)) if (/^VITEST|^CONTRACT_TARGET$/.test(name)) delete env[name];
  const child = spawn(process.execPath, ["--import", "tsx", script, ...args], { env });
  let output = "";
  for (const stream of [child.stdout, child.stderr]) {
    stream.setEncoding("utf8").on("data", (chunk: string) => {
      output += chunk;
    });
  }
  const code = await new Promise<number | null>((resolve) => child.once("close", resolve));
  return { code, output };
}

test.each([
  [["threads.db"], 2, '"threads.db" is no URL of a server'],
  [["mysql://ada:secret@host/db"], 2, '"mysql://host/db" is no URL of a server'],
  [["kurrentdb://host", "more"], 2, "one URL at most"],
  [["kurrentdb://host", "--events", "1000"], 2, 'a multiple of 2,000, not "1000"'],
  [["kurrentdb://host", "--client", "mine"], 2, "--client is one of"],
  [["postgres://:::"], 2, "The PostgreSQL URL cannot be read"],
  [["postgres://host/db?sslrootcert=/no/such.pem"], 2, "names cannot be read (ENOENT): /no/such.pem"],
  [["kurrentdb://ada:a?b=secret@host:port"], 2, "The URL of kurrentdb://host:port cannot be used"],
  [["mysql://ada:se/secret@host/db"], 2, '"mysql://host/db" is no URL of a server'],
  [["--wrong"], 2, "Unknown option '--wrong'"],
  [["kurrentdb://ada:secret@127.0.0.1:1?tls=false"], 7, "the server cannot be reached (connect ECONNREFUSED"],
  [["postgres://ada:secret@127.0.0.1:1/threads"], 7, "the server cannot be reached (ECONNREFUSED)"],
])("%j is refused", async (args, code, message) => {
  const result = await contract(...args);
  expect(result.code).toBe(code);
  expect(result.output.split("\n")[0]).toContain(`error: `);
  expect(result.output.split("\n")[0]).toContain(message);
  expect(result.output).not.toMatch(/secret|\n\s+at /);
});

test("--help says what will be made on the server", async () => {
  const { code, output } = await contract("--help");
  expect(code).toBe(0);
  expect(output).toContain('streams "contract-…" are made and erased');
});

describe("on the double in a process of its own", () => {
  let double: Awaited<ReturnType<typeof startDoubleProcess>>;
  beforeAll(async () => {
    double = await startDoubleProcess();
  }, 60_000);
  afterAll(() => double?.stop());

  test("all suites pass beside what is there already, which stays as it is", async () => {
    const { log } = await openKurrentDb(double.url, { client });
    const { events } = await log.append("thread-1", newEvents(3), { expectedVersion: 0 });
    const { code, output } = await contract(double.url, "--events", "2000");
    expect(output).toMatch(/\d{3} passed, 0 failed/);
    expect(output).toContain("holds 2000 events");
    expect(code).toBe(0);
    expect(await collect(log.readAll())).toEqual(events);
    await log.close();
  });

  test("with the older client, and a part of the tests", async () => {
    const args = ["--client", "@eventstore/db-client", "--only", "20 writers", "--events", "2000"];
    const { code, output } = await contract(double.url.replace("kurrentdb:", "esdb:"), ...args);
    expect(output).toMatch(/\b1 passed, 0 failed/);
    expect(code).toBe(0);
  });
});

describe.skipIf(!hasPostgres)("on a real PostgreSQL server", () => {
  let server: PostgresServer;
  beforeAll(async () => {
    server = await startPostgres();
  }, serverStartMs);
  afterAll(() => server?.stop());

  test("all suites pass, and nothing is left", async () => {
    const { code, output } = await contract(server.url({}), "--events", "2000");
    expect(output).toMatch(/\d{3} passed, 0 failed/);
    expect(code).toBe(0);
    const left = "SELECT nspname FROM pg_namespace WHERE nspname LIKE 'contract%'";
    expect(await server.sql(left)).toEqual([]);
  });

  test("--only takes a text, and says when no test has it in its name", async () => {
    const { code, output } = await contract(server.url({}), "--only", "no (test has this name");
    expect(output).toContain('error: No test has a name that contains "no (test has this name".');
    expect(code).toBe(2);
  });
});

import { mkdir, mkdtemp, rm, writeFile } from "node:fs/promises";
import { createServer } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, onTestFinished, test, vi } from "vitest";
import { probeBubblewrap } from "../../../actors/sandboxes/bubblewrap.ts";
import { openStore } from "../../../events/open-store.ts";
import { makeCertificates } from "../../events/log/event-store-double/certificates.ts";
import { type DoubleOptions, startEventStoreDouble } from "../../events/log/event-store-double/server.ts";
import { collect } from "../../events/log/new-events.ts";
import {
  hasPostgres,
  type PostgresServer,
  serverStartMs,
  startPostgres,
} from "../../events/log/postgres-server.ts";
import { cli, cliBundle, emptyFolder } from "./run-cli.ts";

vi.setConfig({ testTimeout: 120_000 });

const smallDisk = await probeBubblewrap();
if (!smallDisk.works) process.stderr.write(`The test of a full disk is skipped: ${smallDisk.reason}\n`);
beforeAll(() => cliBundle(), 60_000);

/** What a command says that reads, and one that writes: three short lines at most, no stack, no secret. */
async function refused(store: string, code: number): Promise<string> {
  const cwd = await emptyFolder();
  const said = await Promise.all(
    [["threads"], ["run", "say hello"]].map(async (args) => {
      const result = await cli([...args, "--store", store], { cwd });
      expect(result).toMatchObject({ code, stdout: "" });
      expect(result.stderr.trim().split("\n").length).toBeLessThanOrEqual(3);
      expect(result.stderr).not.toMatch(/secret|\n\s+at |Warning/);
      return result.stderr;
    }),
  );
  expect(said[0]).toBe(said[1]);
  return said[0] ?? "";
}

async function silentPort(): Promise<number> {
  const server = createServer(() => undefined);
  onTestFinished(() => void server.close());
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const address = server.address();
  if (address === null || typeof address === "string") throw new Error("A port was asked for");
  return address.port;
}

describe("a package that is not installed is named", () => {
  /** `threads` in a process that does not find the packages. */
  const without = async (packages: readonly string[], store: string) => {
    const cwd = await emptyFolder();
    const hook = `
      export async function resolve(name, context, next) {
        if (!${JSON.stringify(packages)}.includes(name)) return next(name, context);
        throw Object.assign(new Error("Cannot find package '" + name + "'"), { code: "ERR_MODULE_NOT_FOUND" });
      }`;
    await writeFile(join(cwd, "hook.mjs"), hook);
    const register = join(cwd, "register.mjs");
    await writeFile(
      register,
      'import { register } from "node:module"; register("./hook.mjs", import.meta.url);',
    );
    const result = await cli(["threads", "--store", store], { cwd, node: ["--import", register] });
    expect(result).toMatchObject({ code: 2, stdout: "" });
    expect(result.stderr.trim().split("\n").length).toBeLessThanOrEqual(3);
    return result.stderr;
  };

  test("pg, either client of KurrentDB, the client of S3", async () => {
    const clients = ["@kurrent/kurrentdb-client", "@eventstore/db-client"];
    expect(await without(["pg"], "postgres://127.0.0.1/threads")).toContain("npm install pg");
    expect(await without(clients, "kurrentdb://127.0.0.1:2113")).toContain(
      "npm install @kurrent/kurrentdb-client",
    );
    const double = await startEventStoreDouble();
    onTestFinished(() => double.stop());
    const blobs = `${double.url}&blobs=${encodeURIComponent("s3://threads")}`;
    expect(await without(["@aws-sdk/client-s3"], blobs)).toContain("npm install @aws-sdk/client-s3");
  });
});

describe("on KurrentDB", () => {
  const start = async (options?: DoubleOptions) => {
    const double = await startEventStoreDouble(options);
    onTestFinished(() => double.stop());
    return double;
  };
  const certificates = async () => {
    const folder = await mkdtemp(join(tmpdir(), "threadfold-tls-"));
    onTestFinished(() => rm(folder, { recursive: true }));
    const [right, wrong] = [await makeCertificates(), await makeCertificates()];
    const files = { right: join(folder, "right.pem"), wrong: join(folder, "wrong.pem") };
    await writeFile(files.right, right.authority);
    await writeFile(files.wrong, wrong.authority);
    return { right, files };
  };

  test("a wrong password", async () => {
    const { right, files } = await certificates();
    const { port } = await start({ tls: right, user: "ada:right" });
    const said = await refused(`kurrentdb://ada:secret@localhost:${port}?tlsCAFile=${files.right}`, 1);
    expect(said).toContain("the server refuses the user name or password");
  });

  test("a certificate of an authority that is not trusted", async () => {
    const { right, files } = await certificates();
    const { port } = await start({ tls: right });
    expect(await refused(`kurrentdb://localhost:${port}?tlsCAFile=${files.wrong}`, 1)).toContain(
      "no TLS connection can be made",
    );
  });

  test("a server that is too old", async () => {
    const { url } = await start({ version: "5.0.11" });
    expect(await refused(url, 1)).toContain("is too old: version 5.0.11");
  });

  test("nobody listens, and a host that does not answer", async () => {
    const double = await start();
    await double.stop();
    expect(await refused(double.url, 7)).toContain("the server cannot be reached (connect ECONNREFUSED");
    const silent = `kurrentdb://127.0.0.1:${await silentPort()}?tls=false`;
    expect(await refused(silent, 7)).toContain("the server does not answer");
  });

  test("a disk that is full ends the server; nothing that was acknowledged is lost, and the run is settled later", async () => {
    const double = await start();
    const cwd = await emptyFolder();
    const store = ["--store", double.url];
    expect((await cli(["run", "--thread", "t", "say hello", ...store], { cwd })).code).toBe(0);
    const before = double.storage.stream("thread-t")?.length ?? 0;
    double.faults.appends.push("disk-full");
    const failed = await cli(["run", "--thread", "t", "say more", ...store], { cwd });
    expect([1, 7]).toContain(failed.code);
    expect(failed.stderr).toMatch(/error: .*(cannot be reached|did not say)/);
    expect(failed.stderr).not.toMatch(/\n\s+at /);
    await double.start();
    expect(double.storage.stream("thread-t")?.length).toBeGreaterThanOrEqual(before);
    expect(await cli(["run", "--thread", "t", "say hello again", ...store], { cwd })).toMatchObject({
      code: 0,
    });
    expect(await cli(["verify", "--all", ...store], { cwd })).toMatchObject({ code: 0 });
  });
});

describe.skipIf(!hasPostgres)("on PostgreSQL", () => {
  let server: PostgresServer;
  beforeAll(async () => {
    server = await startPostgres();
  }, serverStartMs);
  afterAll(async () => {
    await server?.stop();
  });

  test("a wrong password, and TLS that the server does not speak", async () => {
    expect(await refused(server.url({ password: "secret" }), 1)).toContain(
      "the server refuses the user name or password",
    );
    expect(await refused(server.url({ query: "?sslmode=verify-full" }), 1)).toContain(
      "no TLS connection can be made",
    );
  });

  test("nobody listens, and a host that does not answer", async () => {
    const at = (port: number) => `postgres://ada:secret@127.0.0.1:${port}/threads`;
    expect(await refused(at(1), 7)).toContain("the server cannot be reached (ECONNREFUSED)");
    expect(await refused(at(await silentPort()), 7)).toContain("the server does not answer (ETIMEDOUT)");
  });

  test("a disk that is full: what was acknowledged is there, and the same command works when there is room", {
    skip: !smallDisk.works,
  }, async () => {
    // A file system of 6 MB for the tables, in a view of the machine that only this server has.
    const small = await startPostgres(["fsync=off"], (folder) => [
      ...["bwrap", "--bind", "/", "/", "--dev-bind", "/dev", "/dev", "--unshare-pid", "--proc", "/proc"],
      ...["--die-with-parent", "--size", "6000000", "--tmpfs", join(folder, "small")],
    ]);
    onTestFinished(() => small.stop());
    const [{ folder } = { folder: "" }] = await small.sql(
      "SELECT current_setting('unix_socket_directories') AS folder",
    );
    await small.sql(`CREATE TABLESPACE small LOCATION '${folder}/small'`);
    await small.sql("ALTER ROLE tester SET default_tablespace = small");
    const url = small.newUrl();
    const cwd = await emptyFolder();
    await mkdir(join(cwd, "work"));
    const run = (thread: string) => cli(["run", "--thread", thread, "say hello", "--store", url], { cwd });
    expect((await run("first")).code).toBe(0);

    await small.sql("CREATE TABLE filler (text text)");
    const fill = () => small.sql("INSERT INTO filler SELECT repeat('x', 90) FROM generate_series(1, 60)");
    for (;;)
      if (
        await fill().then(
          () => false,
          () => true,
        )
      )
        break;
    let failed = await run("t-0");
    for (let more = 1; failed.code === 0 && more < 20; more++) failed = await run(`t-${more}`);
    expect(failed.code).toBe(1);
    expect(failed.stderr).toContain("the server's disk is full");
    expect(failed.stderr).not.toMatch(/\n\s+at /);

    await small.sql("DROP TABLE filler; CHECKPOINT");
    expect((await run("first")).code).toBe(0);
    expect(await cli(["verify", "--all", "--store", url], { cwd })).toMatchObject({ code: 0 });
    const store = await openStore(url);
    expect(
      (await collect(store.log.read("thread-first"))).filter(({ type }) => type === "RunCompleted"),
    ).toHaveLength(2);
    await store.close();
  });
});

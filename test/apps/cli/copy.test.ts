import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, onTestFinished, test, vi } from "vitest";
import { openStore } from "../../../events/open-store.ts";
import { startEventStoreDouble } from "../../events/log/event-store-double/server.ts";
import { newEvents } from "../../events/log/new-events.ts";
import {
  hasPostgres,
  type PostgresServer,
  serverStartMs,
  startPostgres,
} from "../../events/log/postgres-server.ts";
import { cli } from "./run-cli.ts";
import { sampleStore } from "./sample-store.ts";

vi.setConfig({ testTimeout: 120_000 });

async function folderWithThreads(): Promise<string> {
  const { folder, remove } = await sampleStore();
  onTestFinished(() => remove());
  return folder;
}
const from = "sqlite:.threadfold/threads.db";

test("a store is copied once, and a second time nothing is missing", async () => {
  const cwd = await folderWithThreads();
  const args = ["copy", "--from", from, "--to", "sqlite:copy.db"];
  const first = await cli([...args, "--json"], { cwd });
  expect(first.code).toBe(0);
  const { events, copied, missingBlobs } = JSON.parse(first.stdout);
  expect(copied).toBe(events);
  expect(missingBlobs).toEqual([]);
  const second = await cli(args, { cwd });
  expect(second).toMatchObject({ code: 0, stdout: "" });
  expect(second.stderr).toContain("0 events verified, nothing was missing");
  expect(second.stderr).toContain(`Copied before and not looked at again: ${events} events.`);
  const exported = (store: string) => cli(["export", "parent", "--store", store], { cwd });
  expect((await exported("sqlite:copy.db")).stdout).toBe((await exported(from)).stdout);
});

test("the same store twice, and a source that is not there, are refused", async () => {
  const cwd = await folderWithThreads();
  expect((await cli(["copy", "--from", from, "--to", from], { cwd })).code).toBe(2);
  const missing = await cli(["copy", "--from", "sqlite:none.db", "--to", "sqlite:copy.db"], { cwd });
  expect(missing.code).toBe(1);
  expect(missing.stderr).toContain("none.db");
});

test("`--follow` copies what is added later, until it is interrupted", async () => {
  const cwd = await folderWithThreads();
  const store = await openStore(`sqlite:${join(cwd, ".threadfold/threads.db")}`);
  onTestFinished(() => store.close());
  let step = 0;
  const args = ["copy", "--from", from, "--to", "sqlite:copy.db", "--follow", "--ndjson"];
  const result = await cli(args, {
    cwd,
    onStdout(text, child) {
      const records = text.split("\n").length - 1;
      if (records === 1 && step === 0) {
        step = 1;
        void store.log.append("thread-new", newEvents(2), { expectedVersion: 0 });
      } else if (records === 2 && step === 1) {
        step = 2;
        child.kill("SIGINT");
      }
    },
  });
  expect(JSON.parse(result.stdout.trim().split("\n")[1] ?? "")).toMatchObject({ copied: 2 });
  expect(result.code).toBe(130);
});

test("`--follow` waits for a source that goes away, and goes on when it is back", async () => {
  const cwd = await folderWithThreads();
  const double = await startEventStoreDouble();
  onTestFinished(() => double.stop());
  const write = async (stream: string) => {
    const store = await openStore(`${double.url}&side=${encodeURIComponent(join(cwd, "side"))}`);
    await store.log.append(stream, newEvents(2), { expectedVersion: 0 });
    await store.close();
  };
  await write("thread-one");
  let step = 0;
  let said = "";
  const args = ["copy", "--from", double.url, "--to", "sqlite:mirror.db", "--follow", "--ndjson"];
  const result = await cli(args, {
    cwd,
    onStdout(text, child) {
      const records = text.split("\n").length - 1;
      if (records === 1 && step === 0) {
        step = 1;
        void double.stop();
      } else if (records === 2 && step === 2) child.kill("SIGINT");
    },
    onStderr(text) {
      said = text;
      if (step !== 1 || !text.includes("Trying again.")) return;
      step = 2;
      void double.start().then(() => write("thread-two"));
    },
  });
  expect(result.code).toBe(130);
  expect(said).toContain("Trying again.");
  expect(JSON.parse(result.stdout.trim().split("\n").at(-1) ?? "")).toMatchObject({ copied: 2 });
});

describe.skipIf(!hasPostgres)("with a PostgreSQL server", () => {
  let server: PostgresServer;
  beforeAll(async () => {
    server = await startPostgres();
  }, serverStartMs);
  afterAll(async () => {
    await server?.stop();
  });

  test("a store moves to the server, and the other commands find it there", async () => {
    const cwd = await folderWithThreads();
    const to = server.newUrl();
    expect((await cli(["copy", "--from", from, "--to", to], { cwd })).code).toBe(0);
    const there = await cli(["state", "parent", "--store", to], { cwd });
    expect(there.stdout).toBe((await cli(["state", "parent", "--store", from], { cwd })).stdout);
    expect((await cli(["verify", "--all", "--store", to], { cwd })).code).toBe(0);
  });

  test("a wrong password is one clear error, and a server that is not there is exit code 7", async () => {
    const cwd = await folderWithThreads();
    const wrong = await cli(["threads", "--store", server.url({ password: "secret" })], { cwd });
    expect(wrong.code).toBe(1);
    expect(wrong.stderr).toContain("refuses the user name or password");
    expect(wrong.stderr).not.toContain("secret");
    const nowhere = await cli(["threads", "--store", "postgres://ada:secret@127.0.0.1:1/threads"], { cwd });
    expect(nowhere.code).toBe(7);
    expect(nowhere.stderr).toContain("ECONNREFUSED");
  });
});

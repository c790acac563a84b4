import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test, vi } from "vitest";
import { queueRun as queue } from "../../../actors/queued-request.ts";
import { openStore } from "../../../events/open-store.ts";
import {
  hasPostgres,
  type PostgresServer,
  serverStartMs,
  startPostgres,
} from "../../events/log/postgres-server.ts";
import { cli, emptyFolder } from "./run-cli.ts";

vi.setConfig({ testTimeout: 120_000 });

const queueRun = async (cwd: string, thread: string, sum: string, more: readonly string[] = []) => {
  const { stdout } = await cli(
    ["run", "--queue", "--thread", thread, "--json", `calculate ${sum}`, ...more],
    { cwd },
  );
  return JSON.parse(stdout) as { runId: string; threadId: string };
};
const records = (stdout: string) =>
  stdout
    .trimEnd()
    .split("\n")
    .filter(Boolean)
    .map((line) => JSON.parse(line));
const runIds = (stdout: string) => records(stdout).map(({ runId }) => runId);

describe("queue and worker", () => {
  test("a run is queued with its id, shown, and run by a worker that ends when there is nothing to do", async () => {
    const cwd = await emptyFolder();
    const queued = await queueRun(cwd, "t1", "1 + 1");
    expect(queued).toMatchObject({ schemaVersion: 1, threadId: "t1" });
    const shown = await cli(["queue"], { cwd });
    expect(shown.stdout.trimEnd().split("\t").slice(0, 4)).toEqual([
      queued.runId,
      "t1",
      "threadfold",
      "waiting",
    ]);
    const worked = await cli(["worker", "--until-idle"], { cwd });
    expect(worked).toMatchObject({ code: 0, stdout: `t1\t${queued.runId}\tcompleted\n` });
    const { stdout } = await cli(["state", "t1", "--json"], { cwd });
    expect(stdout).toContain("1 + 1 = 2");
    expect(JSON.parse((await cli(["queue", "--json"], { cwd })).stdout)).toMatchObject({ runs: [] });
  });

  test("a worker that is through says which runs wait for agents of other names", async () => {
    const cwd = await emptyFolder();
    const store = await openStore(`sqlite:${join(cwd, ".threadfold/threads.db")}`);
    await queue(store, { threadId: "t1", input: "hello" });
    await store.close();
    const worked = await cli(["worker", "--until-idle"], { cwd });
    expect(worked).toMatchObject({ code: 0, stdout: "" });
    expect(worked.stderr).toContain("1 runs wait for other agents (agent); this one is called threadfold");
  });

  test("two workers share the runs, and SIGTERM ends both without a loss", async () => {
    const cwd = await emptyFolder();
    const agent = `
      const slow = {
        name: "slow",
        async wrapModelCall(request, handler) {
          await new Promise((resolve) => setTimeout(resolve, 200));
          return handler(request);
        },
      };
      export default { model: "builtin:planner", middleware: [slow] };
    `;
    await writeFile(join(cwd, "agent.mjs"), agent);
    const queued: string[] = [];
    for (let index = 0; index < 6; index++) {
      queued.push((await queueRun(cwd, `t${index}`, `${index} + 1`, ["--agent", "agent.mjs"])).runId);
    }
    const work = () => {
      let isStopped = false;
      return cli(["worker", "--agent", "agent.mjs", "--concurrency", "1", "--ndjson"], {
        cwd,
        onStdout(text, child) {
          if (isStopped || runIds(text).length < 2) return;
          isStopped = true;
          child.kill("SIGTERM");
        },
      });
    };
    const workers = await Promise.all([work(), work()]);
    expect(workers.map(({ code }) => code)).toEqual([0, 0]);
    const rest = await cli(["worker", "--agent", "agent.mjs", "--until-idle", "--ndjson"], { cwd });
    const done = [...workers, rest].flatMap(({ stdout }) => runIds(stdout));
    expect(done.sort()).toEqual(queued.sort());
    const { threads } = JSON.parse((await cli(["threads", "--json"], { cwd })).stdout);
    expect(threads).toHaveLength(6);
    for (const thread of threads) expect(thread).toMatchObject({ status: "idle", runs: 1 });
  });

  test("a server runs what was queued, too, when it is told to", async () => {
    const cwd = await emptyFolder();
    const { runId } = await queueRun(cwd, "t1", "1 + 1");
    const served = cli(["serve", "--port", "0", "--work", "--ndjson"], {
      cwd,
      async onStdout(_text, child) {
        const store = await openStore(`sqlite:${join(cwd, ".threadfold", "threads.db")}`);
        while ((await store.queue.list(1)).length > 0)
          await new Promise((resolve) => setTimeout(resolve, 20));
        await store.close();
        child.kill("SIGTERM");
      },
    });
    expect((await served).code).toBe(0);
    const { stdout } = await cli(["events", "t1", "--ndjson"], { cwd });
    expect(records(stdout).find(({ type }) => type === "RunCompleted")).toMatchObject({ data: { runId } });
  });

  test("a run that nobody has yet can be taken out, and a wrong id is said so", async () => {
    const cwd = await emptyFolder();
    const { runId } = await queueRun(cwd, "t1", "1 + 1");
    const gone = await cli(["queue", "--withdraw", runId], { cwd });
    expect(gone).toMatchObject({ code: 0, stdout: "" });
    for (const flag of ["--withdraw", "--retry"]) {
      const { code, stderr } = await cli(["queue", flag, "nope"], { cwd });
      expect(code).toBe(3);
      expect(stderr).toMatch(/nope: No run of this id .*threadfold queue/s);
    }
  });

  test("a run that was set aside is shown with the reason, and tried again", async () => {
    const cwd = await emptyFolder();
    const { runId } = await queueRun(cwd, "t1", "1 + 1");
    const store = await openStore(`sqlite:${join(cwd, ".threadfold", "threads.db")}`);
    await store.queue.claim({ owner: "w", agent: "threadfold", leaseMs: 60_000, limit: 1 });
    await store.queue.park("w", runId, "the disk was full");
    await store.close();
    const shown = await cli(["queue", "--ndjson"], { cwd });
    expect(records(shown.stdout)).toMatchObject([{ runId, state: "parked", reason: "the disk was full" }]);
    expect((await cli(["worker", "--until-idle"], { cwd })).stdout).toBe("");
    await cli(["queue", "--retry", runId], { cwd });
    expect((await cli(["worker", "--until-idle"], { cwd })).stdout).toBe(`t1\t${runId}\tcompleted\n`);
  });
});

describe.skipIf(!hasPostgres)("with a real PostgreSQL server", () => {
  let server: PostgresServer;
  beforeAll(async () => {
    server = await startPostgres();
  }, serverStartMs);
  afterAll(() => server?.stop());

  test("runs, workers, lists and read models work on the server's store", async () => {
    const cwd = await emptyFolder();
    const env = { THREADFOLD_STORE: server.newUrl() };
    const call = (...args: string[]) => cli(args, { cwd, env });
    const queued = JSON.parse(
      (await call("run", "--queue", "--thread", "t1", "--json", "calculate 1 + 1")).stdout,
    );
    expect((await call("worker", "--until-idle")).stdout).toBe(`t1\t${queued.runId}\tcompleted\n`);
    expect((await call("run", "--thread", "t2", "calculate 2 + 2")).code).toBe(0);
    const listed = JSON.parse((await call("threads", "--json")).stdout);
    expect(listed.threads.map(({ threadId }: { threadId: string }) => threadId)).toEqual(["t2", "t1"]);

    const caughtUp = JSON.parse((await call("projections", "--catch-up", "--json")).stdout);
    expect(caughtUp.projections).toHaveLength(7);
    for (const projection of caughtUp.projections) {
      expect(projection).toMatchObject({ lag: { events: 0 }, skipped: [] });
    }
    const rebuilt = await call("rebuild", "thread-list");
    expect(rebuilt).toMatchObject({ code: 0 });
    // Another machine, without any file of this one.
    const elsewhere = { cwd: await emptyFolder(), env };
    const { projections } = JSON.parse((await cli(["projections", "--json"], elsewhere)).stdout);
    const list = projections.find(({ name }: { name: string }) => name === "thread-list");
    expect(list).toMatchObject({ lag: { events: 0 } });
    expect(list.events).toBeGreaterThan(0);
    const verified = await cli(["verify", "t1"], elsewhere);
    expect(verified.code).toBe(0);
  });
});

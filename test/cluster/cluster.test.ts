import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { buildChild } from "../crash/build-child.ts";
import { startDoubleProcess } from "../events/log/event-store-double/start-process.ts";
import {
  hasPostgres,
  type PostgresServer,
  serverStartMs,
  startPostgres,
} from "../events/log/postgres-server.ts";
import { type ClusterReport, runCluster } from "./run-cluster.ts";
import { workerScript } from "./worker-script.ts";

let child: { folder: string; script: string };
beforeAll(async () => {
  child = await buildChild(workerScript);
}, 120_000);
afterAll(() => rm(child.folder, { recursive: true, force: true }));

const testMs = 180_000;

/** A cluster small enough for a test, most of whose runs are met by a kill. */
function small(url: string, threads = 60, leaseMs = 500): Promise<ClusterReport> {
  return runCluster({
    url,
    script: child.script,
    workers: 3,
    threads,
    runsPerThread: 2,
    toolCalls: 2,
    kills: 8,
    killPauseMs: [300, 900],
    concurrency: 10,
    leaseMs,
    toolMs: 150,
    modelMs: 60,
    deadlineMs: 120_000,
    random: Math.random,
  });
}

function expectAllWell(report: ClusterReport, threads = 60): void {
  expect(report).toMatchObject({
    isLate: false,
    lost: 0,
    doubled: 0,
    toolsRunTwice: 0,
    toolsBegunTwice: 0,
    completed: 2 * threads,
    threads,
    threadsFinished: threads,
    differingRows: 0,
    notTailed: 0,
    problems: [],
    processProblems: [],
  });
  expect(report.acknowledged).toBeGreaterThan(0);
  // Otherwise the simulation met nothing.
  expect(report.kills).toBeGreaterThan(2);
  expect(report.takeovers).toBeGreaterThan(0);
}

describe("three workers, one killed after the other, end two runs of each thread", () => {
  test(
    "on SQLite",
    async () => {
      const folder = await mkdtemp(join(tmpdir(), "threadfold-cluster-store-"));
      try {
        expectAllWell(await small(`sqlite:${join(folder, "threads.db")}`));
      } finally {
        await rm(folder, { recursive: true, force: true });
      }
    },
    testMs,
  );

  test(
    "on KurrentDB's client against the double of the server",
    async () => {
      const folder = await mkdtemp(join(tmpdir(), "threadfold-cluster-store-"));
      const double = await startDoubleProcess();
      try {
        // Each claim and renewal reads records one by one there, so fewer of them.
        expectAllWell(await small(`${double.url}&side=${encodeURIComponent(folder)}`, 24, 3000), 24);
      } finally {
        await double.stop();
        await rm(folder, { recursive: true, force: true });
      }
    },
    testMs,
  );

  describe.skipIf(!hasPostgres)("with a real PostgreSQL server", () => {
    let server: PostgresServer;
    beforeAll(async () => {
      server = await startPostgres();
    }, serverStartMs);
    afterAll(() => server?.stop());

    test("on PostgreSQL", async () => expectAllWell(await small(server.newUrl())), testMs);
  });
});

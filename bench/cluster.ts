import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { parseArgs } from "node:util";
import Table from "cli-table3";
import { withoutCredentials } from "../events/without-credentials.ts";
import { type ClusterReport, runCluster } from "../test/cluster/run-cluster.ts";
import { workerScript } from "../test/cluster/worker-script.ts";
import { buildChild } from "../test/crash/build-child.ts";
import { startDoubleProcess } from "../test/events/log/event-store-double/start-process.ts";
import { startPostgres } from "../test/events/log/postgres-server.ts";

/*
 * Eight worker processes share 2,000 threads, and one after the other is killed at random moments. A PostgreSQL server is
 * started here, with fsync as it is by default; with `--on double` the double of the event store, with `--on sqlite` a
 * file; `--url` names a store that is there and empty. Events are counted as acknowledged by the workers, and tool calls
 * by the tools themselves, in files beside the log.
 *
 *   npx tsx bench/cluster.ts [--on postgres|sqlite|double] [--url <store>] [--workers 8] [--threads 2000] [--kills 40]
 *     [--minutes 15]
 */
const { values } = parseArgs({
  options: {
    on: { type: "string", default: "postgres" },
    url: { type: "string" },
    workers: { type: "string", default: "8" },
    threads: { type: "string", default: "2000" },
    kills: { type: "string", default: "40" },
    minutes: { type: "string", default: "15" },
  },
});
const [workers, threads, kills, minutes] = [values.workers, values.threads, values.kills, values.minutes].map(
  Number,
) as [number, number, number, number];

async function simulate(url: string): Promise<ClusterReport> {
  const child = await buildChild(workerScript);
  try {
    let shown = -1;
    return await runCluster({
      url,
      script: child.script,
      workers,
      threads,
      runsPerThread: 1,
      toolCalls: 3,
      kills,
      killPauseMs: [500, 2500],
      concurrency: 20,
      leaseMs: 5000,
      toolMs: 1000,
      modelMs: 500,
      deadlineMs: minutes * 60_000,
      random: Math.random,
      onProgress({ seconds, kills: done }) {
        const now = Math.floor(seconds / 10);
        if (now === shown) return;
        shown = now;
        process.stderr.write(`${Math.round(seconds)} s, ${done} kills\n`);
      },
    });
  } finally {
    await rm(child.folder, { recursive: true, force: true });
  }
}

function print(report: ClusterReport): void {
  const { takeoverSeconds, seconds, problems, processProblems } = report;
  const table = new Table({ head: ["", ""], style: { head: [], border: [] } });
  table.push(
    ["store", values.url === undefined ? values.on : withoutCredentials(values.url)],
    ["worker processes", workers],
    ["processes killed", report.kills],
    ["threads finished", `${report.threadsFinished} of ${threads}`],
    ["runs completed", `${report.completed} of ${report.runs}`],
    ["events in the log", report.events],
    ["events acknowledged", report.acknowledged],
    ["acknowledged events lost", report.lost],
    ["events, runs, inputs or results doubled", report.doubled],
    ["tool calls run", report.toolsRun],
    ["completed tools run twice", report.toolsRunTwice],
    ["tools begun twice", report.toolsBegunTwice],
    ["calls with unknown outcome, recorded as such", report.unknownOutcomes],
    ["runs taken over", report.takeovers],
    [
      "seconds to a takeover, median and most",
      `${takeoverSeconds.median.toFixed(1)}, ${takeoverSeconds.most.toFixed(1)}`,
    ],
    ["rows of read models that differ from a rebuild", report.differingRows],
    ["events that a tail in another process missed", report.notTailed],
    ["seconds until every thread was finished", seconds.toFixed(1)],
    ["runs per second", (report.completed / seconds).toFixed(1)],
  );
  console.log(table.toString());
  for (const problem of [...problems, ...processProblems]) console.log(`problem: ${problem}`);
  if (report.isLate) console.log(`Given up after ${minutes} minutes.`);
}

/** An empty store, and what ends its server. */
async function openTarget(): Promise<{ url: string; stop: () => Promise<void> }> {
  if (values.url !== undefined) return { url: values.url, stop: async () => undefined };
  if (values.on === "postgres") {
    const server = await startPostgres([]);
    return { url: server.newUrl(), stop: () => server.stop() };
  }
  const folder = await mkdtemp(join(tmpdir(), "threadfold-cluster-store-"));
  const remove = () => rm(folder, { recursive: true, force: true });
  if (values.on === "sqlite") return { url: `sqlite:${join(folder, "threads.db")}`, stop: remove };
  if (values.on !== "double") throw new Error("--on takes postgres, sqlite or double.");
  const double = await startDoubleProcess();
  const stop = async () => {
    await double.stop();
    await remove();
  };
  return { url: `${double.url}&side=${encodeURIComponent(folder)}`, stop };
}

const target = await openTarget();
try {
  const report = await simulate(target.url);
  print(report);
  const bad =
    report.lost + report.doubled + report.toolsRunTwice + report.differingRows + report.problems.length;
  if (bad > 0 || report.isLate || report.threadsFinished < threads) process.exitCode = 1;
} finally {
  await target.stop();
}

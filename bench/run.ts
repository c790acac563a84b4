import { mkdir, readFile, writeFile } from "node:fs/promises";
import { cpus, loadavg } from "node:os";
import { parseArgs } from "node:util";
import Table from "cli-table3";
import { drawChart } from "./chart.ts";
import { compareWithBaseline, type StoredRatio } from "./compare-with-baseline.ts";
import { peersInstalled } from "./sides/langgraph-packages.ts";
import { measureColdStart } from "./tables/cold-start.ts";
import { measureKurrentdb } from "./tables/kurrentdb.ts";
import { measureManyThreads } from "./tables/many-threads.ts";
import { measureMemory } from "./tables/memory.ts";
import { measureOneThread } from "./tables/one-thread.ts";
import { measurePostgres } from "./tables/postgres.ts";
import { measureRefold } from "./tables/refold.ts";
import { measureStartUp } from "./tables/start-up.ts";
import { type BenchOptions, isMet, type Measured, number } from "./tables/table.ts";

const suites: Readonly<Record<string, (options: BenchOptions) => Promise<Measured>>> = {
  "one-thread": measureOneThread,
  "many-threads": measureManyThreads,
  "cold-start": measureColdStart,
  memory: measureMemory,
  refold: measureRefold,
  "start-up": measureStartUp,
  postgres: measurePostgres,
  kurrentdb: measureKurrentdb,
};

const usage = `npm run bench -- [options]

  --turns 10,100,300   lengths of the one thread (add 1000: their side then takes half an hour and 7 GB of disk)
  --only <table>       one of ${Object.keys(suites).join(", ")}; may be repeated
  --check              compare with bench/results/baseline.json, exit 1 when a ratio is more than 20 % worse
  --save-baseline      keep the ratios of this run as the ones to compare with

BENCH_POSTGRES_URL=postgres://… adds their PostgreSQL saver.`;

const { values: flags } = parseArgs({
  options: {
    turns: { type: "string", default: "10,100,300" },
    only: { type: "string", multiple: true, default: Object.keys(suites) },
    check: { type: "boolean", default: false },
    "save-baseline": { type: "boolean", default: false },
    help: { type: "boolean", short: "h", default: false },
  },
});

const results = new URL("results/", import.meta.url);
const baselineFile = new URL("baseline.json", results);
const images = new URL("../docs/img/", import.meta.url);

async function versions(): Promise<Record<string, string>> {
  const versionIn = async (path: string) => {
    const text = await readFile(new URL(path, import.meta.url), "utf8").catch(() => "{}");
    return (JSON.parse(text) as { version?: string }).version ?? "not installed";
  };
  return {
    node: process.version,
    threadfold: await versionIn("../package.json"),
    langchain: await versionIn("peers/node_modules/langchain/package.json"),
    "@langchain/langgraph": await versionIn("peers/node_modules/@langchain/langgraph/package.json"),
    "@langchain/langgraph-checkpoint-sqlite": await versionIn(
      "peers/node_modules/@langchain/langgraph-checkpoint-sqlite/package.json",
    ),
  };
}

function print({ tables, ratios }: Measured): void {
  for (const { title, head, rows } of tables) {
    const table = new Table({ style: { head: [], border: [] }, head: [...head] });
    table.push(...rows.map((row) => [...row]));
    console.log(`\n${title}\n${table.toString()}`);
  }
  if (ratios.length === 0) return;
  const table = new Table({ style: { head: [], border: [] }, head: ["ratio", "measured", "target", ""] });
  for (const ratio of ratios) {
    const { name, value, target, unit } = ratio;
    const wanted = "atLeast" in target ? `>= ${number(target.atLeast)}` : `<= ${number(target.atMost)}`;
    table.push([name, `${number(value)} ${unit}`, `${wanted} ${unit}`, isMet(ratio) ? "met" : "MISSED"]);
  }
  console.log(table.toString());
}

async function run(): Promise<void> {
  const unknown = flags.only.find((name) => !(name in suites));
  const turns = flags.turns
    .split(",")
    .map(Number)
    .toSorted((a, b) => a - b);
  if (unknown !== undefined || turns.some((count) => !Number.isInteger(count) || count < 10)) {
    console.error(
      unknown === undefined ? `--turns takes whole numbers from 10 on.` : `No table "${unknown}".`,
    );
    console.error(usage);
    process.exitCode = 2;
    return;
  }
  if (!peersInstalled())
    console.error("Without LangGraph.js: `npm run bench:install` adds it to the tables.");
  const parts: Measured[] = [];
  for (const name of flags.only) {
    const measured = await suites[name]?.({ turns, log: (line) => console.error(line) });
    if (!measured) continue;
    print(measured);
    parts.push(measured);
  }
  const tables = parts.flatMap((part) => part.tables);
  const ratios = parts.flatMap((part) => part.ratios);
  const stored: StoredRatio[] = ratios.map((ratio) => ({ ...ratio, met: isMet(ratio) }));
  const machine = { processors: cpus().length, load: loadavg().map((load) => Math.round(load * 10) / 10) };
  const report = { schemaVersion: 1, at: new Date().toISOString(), machine, versions: await versions() };
  console.log(
    `\nLoad ${machine.load.join(", ")} on ${machine.processors} processors. ${JSON.stringify(report.versions)}`,
  );

  await mkdir(results, { recursive: true });
  await writeFile(
    new URL("latest.json", results),
    `${JSON.stringify({ ...report, ratios: stored, tables }, null, 2)}\n`,
  );
  await mkdir(images, { recursive: true });
  for (const chart of parts.flatMap((part) => part.charts)) {
    if (turns.length > 1) await writeFile(new URL(chart.file, images), drawChart(chart));
  }
  if (flags["save-baseline"]) {
    await writeFile(baselineFile, `${JSON.stringify({ ...report, ratios: stored }, null, 2)}\n`);
  }
  if (flags.check) {
    const baseline = JSON.parse(await readFile(baselineFile, "utf8")) as { ratios: StoredRatio[] };
    const worse = compareWithBaseline(ratios, baseline.ratios);
    for (const { name, value, before } of worse) {
      console.error(`Worse than the baseline: ${name}: ${number(value)} instead of ${number(before)}.`);
    }
    if (worse.length > 0) process.exitCode = 1;
    else console.error("No ratio is more than 20 % worse than the baseline.");
  }
}

if (flags.help) console.log(usage);
else await run();

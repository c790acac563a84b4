import type { ChildResult } from "../child.ts";
import { runChild } from "../run-child.ts";
import { peersInstalled } from "../sides/langgraph-packages.ts";
import { type SideName, sideNames } from "../sides/open-side.ts";
import { messagesOfTurn } from "../work.ts";
import {
  type BenchOptions,
  type Chart,
  kilobytes,
  type Measured,
  milliseconds,
  number,
  type Ratio,
} from "./table.ts";

type Results = ReadonlyMap<SideName, ReadonlyMap<number, ChildResult>>;

function sides(): readonly SideName[] {
  const own: SideName[] = ["threadfold-full", "threadfold-normal", "prototype", "bare"];
  if (!peersInstalled()) return own;
  const theirs: SideName[] = ["langgraph-sqlite", "langgraph-sqlite-exit"];
  return [...own, ...theirs, ...(process.env.BENCH_POSTGRES_URL ? (["langgraph-postgres"] as const) : [])];
}

const turnsPerCpuSecond = (result: ChildResult, turns: number): number => (1_000 * turns) / result.cpu;

/** One thread of N one-tool turns: writing it, and reading it back. */
export async function measureOneThread({ turns, log }: BenchOptions): Promise<Measured> {
  const results = new Map<SideName, Map<number, ChildResult>>();
  for (const count of turns) {
    for (const side of sides()) {
      log(`one thread of ${count} turns: ${sideNames[side]}`);
      const ofSide = results.get(side) ?? new Map<number, ChildResult>();
      results.set(side, ofSide.set(count, await runChild({ side, turns: count, reads: true })));
    }
  }
  return {
    tables: [writingTable(results), readingTable(results)],
    ratios: turns.flatMap((count) => ratiosAt(results, count)).concat(growth(results)),
    charts: charts(results),
  };
}

function* rowsOf(results: Results): Generator<[SideName, number, ChildResult]> {
  for (const [side, bySize] of results) for (const [turns, result] of bySize) yield [side, turns, result];
}

function writingTable(results: Results) {
  return {
    title:
      "One thread of N one-tool turns, written. Threadfold with FULL sync (where named), hash chain, schema validation, fold before append",
    head: [
      "product",
      "N",
      "kB on disk per turn",
      "turns/s",
      "turns per CPU second",
      "CPU ms, first 10",
      "last 10",
    ],
    rows: [...rowsOf(results)].map(([side, turns, result]) => [
      sideNames[side],
      String(turns),
      number(result.bytes / turns / 1_000),
      number((1_000 * turns) / result.wall),
      number(turnsPerCpuSecond(result, turns)),
      number(result.firstTurns),
      number(result.lastTurns),
    ]),
  };
}

function readingTable(results: Results) {
  return {
    title:
      "The same thread, read: the state now as the running process has it; past states and history with nothing remembered",
    head: [
      "product",
      "N",
      "state now",
      "at 25 %",
      "at 50 %",
      "at 75 %",
      "ten history rows",
      "resident memory",
    ],
    rows: [...rowsOf(results)]
      .filter(([side]) => side !== "bare" && side !== "prototype")
      .map(([side, turns, { stateNow, statesAt, tenRows, residentBytes }]) => [
        sideNames[side],
        String(turns),
        milliseconds(stateNow),
        ...statesAt.map(milliseconds),
        milliseconds(tenRows),
        `${number(residentBytes / 1e6)} MB`,
      ]),
  };
}

/** The ratios that have a target at this N. */
function ratiosAt(results: Results, turns: number): Ratio[] {
  const ours = results.get("threadfold-full")?.get(turns);
  const prototype = results.get("prototype")?.get(turns);
  const theirs = results.get("langgraph-sqlite")?.get(turns);
  if (!ours || !prototype || turns < 100) return [];
  const json = Buffer.byteLength(JSON.stringify(messagesOfTurn(0, crypto.randomUUID())));
  const ratio = (name: string, value: number, target: Ratio["target"], unit = "x"): Ratio => {
    return { name: `${name}, N = ${turns}`, value, target, unit };
  };
  const own = [
    ratio("bytes per turn / JSON of its messages", ours.bytes / turns / json, { atMost: 3 }),
    ratio("turns per CPU second / append-only prototype", prototype.cpu / ours.cpu, { atLeast: 0.4 }),
  ];
  if (!theirs) return own;
  // What is quadratic on their side gives its targets at 1,000 turns; at fewer turns they shrink with N.
  const share = Math.min(1, turns / 1_000);
  const speed = turns >= 1_000 ? 150 : 20;
  const middle = (result: ChildResult) => result.statesAt[1] ?? 0;
  const pastState = ratio("past state at 50 %, theirs / ours", middle(theirs) / middle(ours), {
    atLeast: 20,
  });
  return [
    ...own,
    ratio("SqliteSaver's bytes / ours", theirs.bytes / ours.bytes, { atLeast: 1_500 * share }),
    ratio("turns per CPU second / SqliteSaver", theirs.cpu / ours.cpu, { atLeast: speed }),
    ratio("getState / state of a live thread", theirs.stateNow / ours.stateNow, { atLeast: 200 }),
    ratio("ten history rows, theirs / ours", theirs.tenRows / ours.tenRows, { atLeast: 100 * share }),
    // A target for long threads: a short one is read by either side in a few milliseconds.
    ...(turns >= 1_000 ? [pastState] : []),
  ];
}

/** How a turn and its bytes grow with the thread. */
function growth(results: Results): Ratio[] {
  const ours = [...(results.get("threadfold-full") ?? [])].filter(([turns]) => turns >= 100);
  const [smallest, largest] = [ours.at(0), ours.at(-1)];
  if (!smallest || !largest) return [];
  const [turns, result] = largest;
  const time = {
    name: `CPU of the last 10 turns / the first 10, N = ${turns}`,
    value: result.lastTurns / result.firstTurns,
    target: { atMost: 1.1 },
    unit: "x",
  };
  if (smallest === largest) return [time];
  const value = result.bytes / turns / (smallest[1].bytes / smallest[0]);
  return [
    time,
    { name: `bytes per turn, N = ${turns} / N = ${smallest[0]}`, value, target: { atMost: 1.05 }, unit: "x" },
  ];
}

function charts(results: Results): Chart[] {
  const lines = (measure: (result: ChildResult, turns: number) => number) =>
    [...results].map(([side, bySize]) => ({
      name: sideNames[side],
      points: [...bySize].map(([turns, result]) => [turns, measure(result, turns)] as const),
    }));
  const x = "turns of the thread";
  return [
    {
      file: "bytes-per-turn.svg",
      title: "Bytes on disk per turn",
      x,
      y: kilobytes(1_000).replace("1 ", ""),
      lines: lines(({ bytes }, turns) => bytes / turns / 1_000),
    },
    {
      file: "turns-per-cpu-second.svg",
      title: "Turns per CPU second",
      x,
      y: "turns",
      lines: lines((result, turns) => turnsPerCpuSecond(result, turns)),
    },
    {
      file: "cpu-of-last-turns.svg",
      title: "CPU of one turn at the end of the thread",
      x,
      y: "ms",
      lines: lines(({ lastTurns }) => lastTurns),
    },
  ];
}

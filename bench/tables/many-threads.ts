import { runChild } from "../run-child.ts";
import { peersInstalled } from "../sides/langgraph-packages.ts";
import { type SideName, sideNames } from "../sides/open-side.ts";
import { type BenchOptions, type Measured, number, type Ratio } from "./table.ts";

const many = { threads: 200, turns: 10 } as const;
const concurrent = { threads: 50, turns: 10, latencyMs: 20 } as const;
/** Each turn calls the model twice. */
const callsPerTurn = 2;

/** 200 threads of ten turns, one after the other; then 50 at once whose model takes 20 ms to answer. */
export async function measureManyThreads({ log }: BenchOptions): Promise<Measured> {
  const sides: SideName[] = ["threadfold-full", "threadfold-normal"];
  if (peersInstalled()) sides.push("langgraph-sqlite", "langgraph-sqlite-exit");
  const rows: string[][] = [];
  const waiting: string[][] = [];
  const ratios: Ratio[] = [];
  const allowed = (1_000 * concurrent.threads) / (callsPerTurn * concurrent.latencyMs);
  for (const side of sides) {
    log(`${many.threads} threads: ${sideNames[side]}`);
    const turns = many.threads * many.turns;
    const { wall, cpu, bytes } = await runChild({ side, ...many });
    const perSecond = (ms: number) => number((1_000 * turns) / ms);
    rows.push([sideNames[side], perSecond(wall), perSecond(cpu), number(bytes / turns / 1_000)]);
    log(`${concurrent.threads} threads at once: ${sideNames[side]}`);
    const together = await runChild({ side, ...concurrent, concurrent: concurrent.threads });
    const done = concurrent.threads * concurrent.turns;
    const rate = (1_000 * done) / together.wall;
    waiting.push([
      sideNames[side],
      number(rate),
      number((1_000 * done) / together.cpu),
      `${number((100 * rate) / allowed)} %`,
    ]);
    if (side !== "threadfold-full") continue;
    const name = "50 threads at once, turns/s / what the latency allows";
    ratios.push({ name, value: rate / allowed, target: { atLeast: 0.9 }, unit: "x" });
  }
  return {
    tables: [
      {
        title: `${many.threads} threads of ${many.turns} turns, one after the other`,
        head: ["product", "turns/s", "turns per CPU second", "kB on disk per turn"],
        rows,
      },
      {
        title: `${concurrent.threads} threads at once, the model takes ${concurrent.latencyMs} ms; it allows ${number(allowed)} turns/s`,
        head: ["product", "turns/s", "turns per CPU second", "of what the latency allows"],
        rows: waiting,
      },
    ],
    ratios,
    charts: [],
  };
}

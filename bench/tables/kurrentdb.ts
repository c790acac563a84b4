import { startDoubleProcess } from "../../test/events/log/event-store-double/start-process.ts";
import { makeEvents } from "../bench-events.ts";
import { openClientSide, openLogSide } from "../kurrentdb-sides.ts";
import { type BenchOptions, type Measured, number } from "./table.ts";

const rounds = 15;
const appends = 200;

/** What both sides did for each second, one right after the other. */
interface Turn {
  readonly ours: number;
  readonly theirs: number;
}

const ratioOf = ({ ours, theirs }: Turn) => ours / theirs;

function middleOf(turns: readonly Turn[]): Turn {
  const sorted = turns.toSorted((a, b) => ratioOf(a) - ratioOf(b));
  return sorted[Math.floor(sorted.length / 2)] ?? { ours: 0, theirs: 0 };
}

/**
 * KurrentDB through the log against the bare client: the same events on the same server, which is the double of the
 * tests in a process of its own. The sides take turns, and the middle one of the ratios of all turns counts: other work on
 * the machine comes and goes in between.
 */
export async function measureKurrentdb({ log }: BenchOptions): Promise<Measured> {
  log(
    `kurrentdb: ${rounds} rounds of ${appends} appends and of all events read, on the double of the server`,
  );
  const double = await startDoubleProcess();
  const [ours, bare] = [await openLogSide(double.url), await openClientSide(double.url)];
  const turns: { append: Turn[]; read: Turn[] } = { append: [], read: [] };
  let events = 0;
  try {
    // Compiled and connected before anything counts.
    for (const [index, side] of [ours, bare].entries()) {
      await side.append(`thread-warm-${index}`, makeEvents(appends));
      events += appends;
    }
    for (let round = 0; round < rounds; round++) {
      const theirs = await bare.append(`thread-bare-${round}`, makeEvents(appends));
      turns.append.push({ theirs, ours: await ours.append(`thread-log-${round}`, makeEvents(appends)) });
      events += 2 * appends;
    }
    for (let round = 0; round < rounds; round++) {
      const theirs = await bare.readAll(events);
      turns.read.push({ theirs, ours: await ours.readAll(events) });
    }
  } finally {
    await ours.close();
    await bare.close();
    await double.stop();
  }
  const [append, read] = [middleOf(turns.append), middleOf(turns.read)];
  const row = (name: string, turn: Turn) => [
    name,
    number(turn.ours),
    number(turn.theirs),
    number(ratioOf(turn)),
  ];
  return {
    tables: [
      {
        title: "KurrentDB (the double of the server), events per second",
        head: ["", "log", "bare client", "ratio"],
        rows: [row("append one by one", append), row(`read ${events} events`, read)],
      },
    ],
    ratios: [
      {
        name: "KurrentDB: append, log / bare client",
        value: ratioOf(append),
        target: { atLeast: 0.85 },
        unit: "x",
      },
      {
        name: "KurrentDB: read, log / bare client",
        value: ratioOf(read),
        target: { atLeast: 0.7 },
        unit: "x",
      },
    ],
    charts: [],
  };
}

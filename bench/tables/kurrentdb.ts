import { startDoubleProcess } from "../../test/events/log/event-store-double/start-process.ts";
import { measureLog } from "../run-child.ts";
import { middleOf, ratioOf, type Turn } from "../turns.ts";
import { type BenchOptions, type Measured, number } from "./table.ts";

const rounds = 11;
const appends = 1_000;

/**
 * KurrentDB through the log against the bare client: the same events on the same server, which is the double of the
 * tests in a process of its own.
 */
export async function measureKurrentdb({ log }: BenchOptions): Promise<Measured> {
  log(
    `kurrentdb: ${rounds} rounds of ${appends} appends and of all events read, on the double of the server`,
  );
  const double = await startDoubleProcess();
  const urls = { logUrl: double.url, bareUrl: double.url };
  const turns = await measureLog({ kind: "kurrentdb", ...urls, rounds, appends, writers: 0 }).finally(() =>
    double.stop(),
  );
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
        rows: [row("append one by one", append), row(`read ${turns.events} events`, read)],
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

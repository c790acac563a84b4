import { hasPostgres, startPostgres } from "../../test/events/log/postgres-server.ts";
import { measureLog } from "../run-child.ts";
import { middleOf, ratioOf, type Turn } from "../turns.ts";
import { type BenchOptions, type Measured, number } from "./table.ts";

const rounds = 11;
const appends = 1_000;
const writers = 64;

/**
 * PostgreSQL through the log against the bare driver: the same rows in the same tables of the same server. Reading is
 * all events in order, JSON parsed on both sides. The server is started here, with fsync as it is by default.
 */
export async function measurePostgres({ log }: BenchOptions): Promise<Measured> {
  if (!hasPostgres) {
    log("postgres: skipped, there is no server here");
    return { tables: [], ratios: [], charts: [] };
  }
  log(
    `postgres: ${rounds} rounds of ${appends} appends by 1 and by ${writers} writers, and of all events read`,
  );
  const server = await startPostgres([]);
  const urls = { logUrl: server.newUrl(), bareUrl: server.newUrl() };
  const turns = await measureLog({ kind: "postgres", ...urls, rounds, appends, writers }).finally(() =>
    server.stop(),
  );
  const [append, many, read] = [middleOf(turns.append), middleOf(turns.many), middleOf(turns.read)];
  const row = (name: string, turn: Turn, other: string) => [
    name,
    number(turn.ours),
    other,
    number(turn.theirs),
    number(ratioOf(turn)),
  ];
  return {
    tables: [
      {
        title: "PostgreSQL, events per second",
        head: ["", "log", "compared with", "", "ratio"],
        rows: [
          row("append, 1 writer", append, "bare driver"),
          row(`append, ${writers} threads`, many, "1 writer"),
          row(`read ${turns.events} events`, read, "bare driver"),
        ],
      },
    ],
    ratios: [
      {
        name: "PostgreSQL: append, log / bare driver",
        value: ratioOf(append),
        target: { atLeast: 0.85 },
        unit: "x",
      },
      {
        name: `PostgreSQL: append, ${writers} threads / 1`,
        value: ratioOf(many),
        target: { atLeast: 4 },
        unit: "x",
      },
      {
        name: "PostgreSQL: read, log / bare driver",
        value: ratioOf(read),
        target: { atLeast: 0.7 },
        unit: "x",
      },
    ],
    charts: [],
  };
}

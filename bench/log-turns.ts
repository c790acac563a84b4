import { makeEvents } from "./bench-events.ts";
import * as kurrentdb from "./kurrentdb-sides.ts";
import type { LogSide } from "./log-side.ts";
import * as postgres from "./postgres-sides.ts";
import { rate } from "./rate.ts";
import type { Turn } from "./turns.ts";

/*
 * A log against its bare client or driver, in turn and in one process that does nothing else. Prints one line of JSON.
 */
export interface LogTurnsWork {
  readonly kind: "postgres" | "kurrentdb";
  /** Two URLs of one server. */
  readonly logUrl: string;
  readonly bareUrl: string;
  readonly rounds: number;
  /** Events that one round appends, one by one. */
  readonly appends: number;
  /** Writers that append at once through the log, so many events together. */
  readonly writers: number;
}

export interface LogTurns {
  readonly append: readonly Turn[];
  /** Many writers against one, both through the log. */
  readonly many: readonly Turn[];
  readonly read: readonly Turn[];
  /** Events that each reading met. */
  readonly events: number;
}

/** Each round does so many pieces of work on either side, in turn, so that what disturbs the machine disturbs both. */
const piecesPerRound = 10;

/** @param ours,theirs one piece of the work, which gives how many things it did for each second */
async function turns(
  rounds: number,
  ours: (round: number, piece: number) => Promise<number>,
  theirs: (round: number, piece: number) => Promise<number>,
  pieces = piecesPerRound,
): Promise<Turn[]> {
  const done: Turn[] = [];
  for (let round = 0; round <= rounds; round++) {
    /** Seconds for each thing. */
    const took = { ours: 0, theirs: 0 };
    for (let piece = 0; piece < pieces; piece++) {
      const isOursFirst = piece % 2 === 0;
      if (isOursFirst) took.ours += 1 / (await ours(round, piece));
      took.theirs += 1 / (await theirs(round, piece));
      if (!isOursFirst) took.ours += 1 / (await ours(round, piece));
    }
    done.push({ ours: pieces / took.ours, theirs: pieces / took.theirs });
  }
  // The first is not counted: code is compiled and plans are made in it.
  return done.slice(1);
}

function appendTogether(side: LogSide, writers: number, appends: number, name: string): Promise<number> {
  const each = Math.ceil(appends / writers);
  const streams = Array.from({ length: writers }, () => makeEvents(each));
  return rate(writers * each, async () => {
    await Promise.all(streams.map((events, writer) => side.append(`${name}-${writer}`, 0, events)));
  });
}

async function measure({ kind, logUrl, bareUrl, rounds, appends, writers }: LogTurnsWork): Promise<LogTurns> {
  const [log, bare] =
    kind === "postgres"
      ? [await postgres.openLogSide(logUrl), await postgres.openDriverSide(bareUrl)]
      : [await kurrentdb.openLogSide(logUrl), await kurrentdb.openClientSide(bareUrl)];
  const inPiece = appends / piecesPerRound;
  const append = await turns(
    rounds,
    (round, piece) => log.append(`thread-log-${round}`, piece * inPiece, makeEvents(inPiece)),
    (round, piece) => bare.append(`thread-bare-${round}`, piece * inPiece, makeEvents(inPiece)),
  );
  const isShared = logUrl === bareUrl;
  const events = (rounds + 1) * appends * (isShared ? 2 : 1);
  const readAll = (side: LogSide) => () => side.readAll(events);
  const read = await turns(rounds, readAll(log), readAll(bare), 1);
  const many =
    writers === 0
      ? []
      : await turns(
          rounds,
          (round) => appendTogether(log, writers, 4 * appends, `thread-many-${round}`),
          (round) => log.append(`thread-one-${round}`, 0, makeEvents(appends)),
          1,
        );
  await log.close();
  await bare.close();
  return { append, many, read, events };
}

const work = JSON.parse(process.argv[2] ?? "{}") as LogTurnsWork;
console.log(JSON.stringify(await measure(work)));

import { threadIdOf, threadStream } from "../events/envelope.ts";
import type { EventLog } from "../events/log/event-log.ts";
import { UnknownThreadError, VersionOutOfRangeError } from "./lineage.ts";

/** A text is no position in a thread. */
export class PositionSyntaxError extends Error {
  override readonly name = "PositionSyntaxError";
  constructor(
    readonly text: string,
    reason: string,
  ) {
    super(
      `"${text}" is no position: ${reason}. Write <thread>@<version>, @head, @-5, @<ISO time>, @run:<id>, @run:<id>:start or the name of a head.`,
    );
  }
}

/** The beginning of a thread id fits several threads. */
export class AmbiguousThreadError extends Error {
  override readonly name = "AmbiguousThreadError";
  constructor(
    readonly prefix: string,
    /** Ids of threads that fit, some of them when there are many. */
    readonly candidates: readonly string[],
  ) {
    super(`"${prefix}" fits several threads: ${candidates.join(", ")}. Write more of the id.`);
  }
}

/** No run, or several runs, of the thread begin with this id. */
export class UnknownRunError extends Error {
  override readonly name = "UnknownRunError";
  constructor(
    readonly thread: string,
    readonly run: string,
    /** Ids of the thread's runs that fit. */
    readonly candidates: readonly string[],
  ) {
    const fits = candidates.length === 0 ? "no run" : `several runs: ${candidates.join(", ")}`;
    super(
      `"${run}" fits ${fits} of thread "${thread}". List the runs with: events ${thread} --type RunStarted`,
    );
  }
}

/** The part of a position after the `@`. */
export type PositionMark =
  | { readonly kind: "head" }
  | { readonly kind: "version"; readonly version: number }
  | { readonly kind: "back"; readonly versions: number }
  | { readonly kind: "time"; readonly time: string }
  | { readonly kind: "run"; readonly runId: string; readonly edge: "start" | "end" }
  | { readonly kind: "name"; readonly name: string };

/** A version of one thread of a log. */
export interface ThreadPosition {
  readonly threadId: string;
  readonly stream: string;
  readonly version: number;
  /** The thread's last version. */
  readonly head: number;
}

/** Ids that an error about an ambiguous prefix names, at most. */
const maxCandidates = 5;
const runEnds = ["RunCompleted", "RunFailed", "RunCancelled", "RunInterrupted"];

/**
 * Reads `<thread>[@<mark>]`; without a mark the head is meant.
 *
 * @throws {PositionSyntaxError}
 * @example
 * parsePosition("0190c3@-5"); // { thread: "0190c3", mark: { kind: "back", versions: 5 } }
 */
export function parsePosition(text: string): { readonly thread: string; readonly mark: PositionMark } {
  const at = text.indexOf("@");
  const thread = at < 0 ? text : text.slice(0, at);
  if (thread === "") throw new PositionSyntaxError(text, "the thread is missing");
  return { thread, mark: at < 0 ? { kind: "head" } : parseMark(text, text.slice(at + 1)) };
}

function parseMark(text: string, mark: string): PositionMark {
  if (mark === "head") return { kind: "head" };
  if (/^\d+$/.test(mark)) return { kind: "version", version: Number(mark) };
  if (/^-\d+$/.test(mark)) return { kind: "back", versions: Number(mark.slice(1)) };
  if (/^\d{4}-\d{2}-\d{2}/.test(mark)) {
    const time = new Date(mark);
    if (Number.isNaN(time.getTime())) throw new PositionSyntaxError(text, `"${mark}" is no ISO time`);
    return { kind: "time", time: time.toISOString() };
  }
  const run = /^run:([^:]+)(?::(start|end))?$/.exec(mark);
  if (run?.[1]) return { kind: "run", runId: run[1], edge: run[2] === "start" ? "start" : "end" };
  if (/^[\p{L}_][\p{L}\p{N}_.-]*$/u.test(mark)) return { kind: "name", name: mark };
  throw new PositionSyntaxError(text, `"${mark}" after the @ is none of the known forms`);
}

/**
 * The thread that an id, or the beginning of one that fits no other thread, means.
 *
 * @throws {UnknownThreadError} @throws {AmbiguousThreadError}
 */
export async function resolveThread(log: EventLog, text: string): Promise<string> {
  const stream = threadStream(text);
  const known = /^[A-Za-z0-9._:/-]+$/.test(text);
  if (!known) throw new UnknownThreadError(text);
  const head = await log.head(stream);
  if (head.version > 0 || head.deleted) return text;
  const found = await log.streams({ prefix: stream, limit: maxCandidates + 1 });
  const ids = found.flatMap((summary) => threadIdOf(summary.stream) ?? []);
  const [only] = ids;
  if (only === undefined) throw new UnknownThreadError(text);
  if (ids.length > 1) {
    const shown = ids.slice(0, maxCandidates);
    throw new AmbiguousThreadError(text, ids.length > maxCandidates ? [...shown, "…"] : shown);
  }
  return only;
}

/**
 * The version that a position means: `<thread>@<version>`, `@head`, `@-5` (five before the head), `@<ISO time>` (the
 * last event up to then), `@run:<id>` (the end of a run, or the head while it is open), `@run:<id>:start` (before its
 * first event), or the name of a head. Thread and run ids may be cut short.
 *
 * @throws {PositionSyntaxError} @throws {UnknownThreadError} @throws {AmbiguousThreadError}
 * @throws {VersionOutOfRangeError} @throws {UnknownRunError}
 * @example
 * await resolvePosition(store.log, "0190c3@run:77a1"); // { threadId: "0190c3…", version: 41, … }
 */
export async function resolvePosition(log: EventLog, text: string): Promise<ThreadPosition> {
  const { thread, mark } = parsePosition(text);
  const threadId = await resolveThread(log, thread);
  const stream = threadStream(threadId);
  const { version: head, deleted } = await log.head(stream);
  if (deleted) throw new UnknownThreadError(threadId, "It was deleted.");
  const version = await versionOf(log, { threadId, stream, head }, mark, text);
  if (version < 0 || version > head) {
    const written = mark.kind === "back" ? `${-mark.versions} (${mark.versions} before the head)` : undefined;
    throw new VersionOutOfRangeError(threadId, version, head, written);
  }
  return { threadId, stream, version, head };
}

type Where = Omit<ThreadPosition, "version">;

async function versionOf(log: EventLog, where: Where, mark: PositionMark, text: string): Promise<number> {
  switch (mark.kind) {
    case "head":
      return where.head;
    case "version":
      return mark.version;
    case "back":
      return where.head - mark.versions;
    case "time":
      return versionAtTime(log, where.stream, mark.time);
    case "run":
      return versionOfRun(log, where, mark);
    case "name":
      return versionOfName(log, where.stream, mark.name, text);
    default:
      return mark satisfies never;
  }
}

async function versionAtTime(log: EventLog, stream: string, time: string): Promise<number> {
  for await (const page of log.read(stream, { backwards: true })) {
    const last = page.find((event) => event.recordedAt <= time);
    if (last) return last.version;
  }
  return 0;
}

async function versionOfRun(
  log: EventLog,
  { threadId, stream, head }: Where,
  { runId, edge }: Extract<PositionMark, { kind: "run" }>,
): Promise<number> {
  const starts = new Map<string, number>();
  const ends = new Map<string, number>();
  for await (const page of log.read(stream, { types: ["RunStarted", ...runEnds] })) {
    for (const event of page) {
      const id = (event.data as { runId: string }).runId;
      if (event.type !== "RunStarted") ends.set(id, event.version);
      else {
        if (!starts.has(id)) starts.set(id, event.version);
        // A run that was interrupted goes on: it ends where its last part ends.
        ends.delete(id);
      }
    }
  }
  const exact = starts.has(runId) ? [runId] : [...starts.keys()].filter((id) => id.startsWith(runId));
  const [id] = exact;
  if (id === undefined || exact.length > 1)
    throw new UnknownRunError(threadId, runId, exact.slice(0, maxCandidates));
  return edge === "start" ? (starts.get(id) ?? 1) - 1 : (ends.get(id) ?? head);
}

async function versionOfName(log: EventLog, stream: string, name: string, text: string): Promise<number> {
  for await (const page of log.read(stream, { backwards: true, types: ["HeadNamed"] })) {
    const last = page.find((event) => (event.data as { name: string }).name === name);
    if (!last) continue;
    const { version } = last.data as { version: number | null };
    if (version !== null) return version;
    break;
  }
  throw new PositionSyntaxError(text, `the thread has no head that is named "${name}"`);
}

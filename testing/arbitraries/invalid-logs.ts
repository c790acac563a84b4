import fc from "fast-check";
import { chainStart, type SealedEvent, sealEvents } from "../../events/hash-chain.ts";
import type { Json } from "../../events/json.ts";
import { eventLine, headerLine } from "../../projections/export-lines.ts";
import type { StateSource } from "../subject-of.ts";
import { threadLogs } from "./thread-logs.ts";

/** What is wrong with a log, and nothing else. */
export type Defect =
  | "data-changed"
  | "event-missing"
  | "events-swapped"
  | "hash-changed"
  | "link-changed"
  | "version-skipped"
  | "end-missing"
  | "data-misfit"
  | "event-refused"
  | "schema-newer"
  | "parent-missing";

/** A log with one defect. */
export interface InvalidLog {
  readonly defect: Defect;
  /** Version of the event that is wrong, or that is missing. */
  readonly version: number;
  /** The one thread of the log. */
  readonly events: readonly SealedEvent[];
  /** The log as lines of an export. */
  readonly lines: readonly string[];
}

/** Chains events again after a change that whoever writes logs could have made. */
function resealed(events: readonly SealedEvent[]): SealedEvent[] {
  const [first] = events;
  return sealEvents(first?.stream ?? "thread-t0", { version: 0, hash: chainStart }, events);
}

function replaced(
  events: readonly SealedEvent[],
  at: number,
  change: (event: SealedEvent) => SealedEvent,
): SealedEvent[] {
  return events.map((event, index) => (index === at ? change(event) : event));
}

function withMetadata(event: SealedEvent, metadata: Partial<SealedEvent["metadata"]>): SealedEvent {
  return { ...event, metadata: { ...event.metadata, ...metadata } };
}

/** Another hash of the same form. */
function otherHash(hash: string): string {
  return `${hash.startsWith("0") ? "1" : "0"}${hash.slice(1)}`;
}

/** A chain whose hashes all hold, and in which a version was never given. */
function withVersionSkipped(events: readonly SealedEvent[], at: number): SealedEvent[] {
  const before = events.slice(0, at);
  const hash = before.at(-1)?.metadata.hash ?? chainStart;
  const rest = sealEvents(events[0]?.stream ?? "thread-t0", { version: at + 1, hash }, events.slice(at));
  return [...before, ...rest];
}

const makers: Readonly<Record<Defect, (events: readonly SealedEvent[], at: number) => SealedEvent[]>> = {
  "data-changed": (events, at) =>
    replaced(events, at, (event) => ({
      ...event,
      data: { ...(event.data as object), changed: true } as Json,
    })),
  "event-missing": (events, at) => events.filter((_, index) => index !== at),
  "events-swapped": (events, at) => {
    const [one, other] = [events[at], events[at + 1]];
    return one && other ? [...events.slice(0, at), other, one, ...events.slice(at + 2)] : [...events];
  },
  "hash-changed": (events, at) =>
    replaced(events, at, (event) => withMetadata(event, { hash: otherHash(event.metadata.hash) })),
  "link-changed": (events, at) =>
    replaced(events, at, (event) =>
      withMetadata(event, { previousHash: otherHash(event.metadata.previousHash) }),
    ),
  "version-skipped": withVersionSkipped,
  "end-missing": (events) => events.slice(0, -1),
  "data-misfit": (events, at) =>
    resealed(replaced(events, at, (event) => ({ ...event, type: "TodosWritten", data: { todos: "none" } }))),
  "event-refused": (events, at) =>
    resealed(
      replaced(events, at, (event) => ({
        ...event,
        type: "MessagesRemoved",
        data: { ids: ["nobody has this id"] },
      })),
    ),
  "schema-newer": (events, at) =>
    resealed(
      replaced(events, at, (event) =>
        withMetadata({ ...event, type: "TodosWritten", data: { todos: [] } }, { schema: 99 }),
      ),
    ),
  "parent-missing": (events) =>
    resealed(
      replaced(events, 0, (event) => ({
        ...event,
        type: "ThreadForked",
        data: { parentThreadId: "gone", parentVersion: 3 },
      })),
    ),
};

/** Where a defect can be, so that nothing else is wrong: a dropped end is another defect than a gap. */
function lastPlace(defect: Defect, length: number): number {
  return defect === "event-missing" || defect === "events-swapped" ? length - 2 : length - 1;
}

/**
 * Logs with exactly one defect: in the chain of hashes, in its length, in an event's data, in what it does to the state,
 * in its schema version, or in what it stands on.
 *
 * @example
 * fc.assert(fc.asyncProperty(invalidLogs(agent), async ({ lines }) => { await expect(importThreads(store, lines)).rejects.toThrow(); }));
 */
export function invalidLogs(source: StateSource): fc.Arbitrary<InvalidLog> {
  const defects = Object.keys(makers) as Defect[];
  return fc
    .tuple(threadLogs(source, { maxForks: 0, maxTurns: 2 }), fc.constantFrom(...defects), fc.nat(200))
    .map(([{ threads }, defect, place]) => {
      const [thread] = threads;
      const whole = thread?.events ?? [];
      // Rewinds would hide a refused event on an abandoned branch: the first run is on the way to all that follows.
      const last = Math.max(0, lastPlace(defect, whole.length));
      const at =
        defect === "parent-missing" ? 0 : defect === "end-missing" ? whole.length - 1 : place % (last + 1);
      const events = makers[defect](whole, at);
      const threadId = thread?.threadId ?? "t0";
      const header = headerLine([threadId], new Map([[`thread-${threadId}`, whole.length]]));
      return { defect, version: at + 1, events, lines: [header, ...events.map(eventLine)] };
    });
}

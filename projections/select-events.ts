import { type RecordedEvent, threadIdOf, threadStream } from "../events/envelope.ts";
import type { EventLog } from "../events/log/event-log.ts";

/** Which events are wanted; what is left out does not choose. */
export interface EventFilter {
  readonly types?: readonly string[];
  readonly runId?: string;
  /** Emitters: a whole one like `tool:bash`, or a kind like `tool`. */
  readonly by?: readonly string[];
  /** ISO 8601; recorded then or later. */
  readonly since?: string;
  /** ISO 8601; recorded before. */
  readonly until?: string;
}

/**
 * The own events of a thread that fit a filter, oldest first. They are no whole chain, so they cannot be imported.
 *
 * @example
 * for await (const event of selectEvents(store.log, "t1", { by: ["tool"] })) console.log(event.type);
 */
export async function* selectEvents(
  log: EventLog,
  threadId: string,
  { types, runId, by, since, until }: EventFilter,
): AsyncGenerator<RecordedEvent> {
  for await (const page of log.read(threadStream(threadId), types ? { types } : {})) {
    for (const event of page) {
      const { metadata, recordedAt } = event;
      if (runId !== undefined && metadata.runId !== runId) continue;
      if (by && !by.some((one) => metadata.by === one || metadata.by.startsWith(`${one}:`))) continue;
      if (since !== undefined && recordedAt < since) continue;
      if (until !== undefined && recordedAt >= until) continue;
      yield event;
    }
  }
}

const columns: readonly (readonly [head: string, cell: (event: RecordedEvent) => string | number])[] = [
  ["thread", ({ stream }) => threadIdOf(stream) ?? stream],
  ["version", ({ version }) => version],
  ["recorded_at", ({ recordedAt }) => recordedAt],
  ["type", ({ type }) => type],
  ["by", ({ metadata }) => metadata.by],
  ["run", ({ metadata }) => metadata.runId ?? ""],
  ["step", ({ metadata }) => metadata.step ?? ""],
  ["id", ({ id }) => id],
  ["caused_by", ({ metadata }) => metadata.causationId],
  ["hash", ({ metadata }) => metadata.hash],
  ["data", ({ data }) => JSON.stringify(data)],
];

/** RFC 4180. A text that a spreadsheet would take for a formula is marked as text. */
function cell(value: string | number): string {
  const text = typeof value === "string" && /^[=+@\t\r]|^-(?!\d)/.test(value) ? `'${value}` : String(value);
  return /[",\r\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
}

/** First line of a CSV of events. */
export const csvHead = columns.map(([head]) => head).join(",");

/** One event as a line of CSV, without its end; `data` is JSON in one cell. */
export function csvLine(event: RecordedEvent): string {
  return columns.map(([, of]) => cell(of(event))).join(",");
}

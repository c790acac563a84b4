import type { NewEvent } from "../events/envelope.ts";
import { chainStart, sealEvents, sha256 } from "../events/hash-chain.ts";
import type { Json } from "../events/json.ts";
import { storableJson } from "../events/storable-json.ts";
import { eventLine, headerLine } from "../projections/export-lines.ts";
import { idFrom } from "./id-from.ts";
import type { Counterexample, LawReport } from "./run-law.ts";

/** Time of a counterexample's first event; each one is a second after the one before. */
const firstTime = Date.UTC(2026, 0, 1);

/**
 * A counterexample as an export of one thread, in lines of NDJSON: `threadfold replay <file>` and `threadfold import`
 * read it.
 *
 * @param threadId default: a name made of its content
 */
export function counterexampleLines(
  { events }: Pick<Counterexample, "events">,
  threadId = nameOf(events),
): string[] {
  const stream = `thread-${threadId}`;
  const drafts = events.map(({ type, data }, at): NewEvent => {
    const id = idFrom(`${threadId} ${at}`);
    return {
      id,
      type,
      data: storableJson(data) as Json,
      recordedAt: new Date(firstTime + 1_000 * at).toISOString(),
      metadata: { schema: 1, by: "runtime", causationId: id, correlationId: id },
    };
  });
  const sealed = sealEvents(stream, { version: 0, hash: chainStart }, drafts);
  const versions = new Map(sealed.length > 0 ? [[stream, sealed.length]] : []);
  return [headerLine([threadId], versions), ...sealed.map(eventLine)];
}

function nameOf(events: Counterexample["events"]): string {
  return `fuzz-${sha256(JSON.stringify(events)).slice(0, 8)}`;
}

/** A broken law for people: the law, what was seen, the events, and how to repeat it. */
export function counterexampleText({ law, subject, broken, runs, seed }: LawReport): string {
  if (!broken) return `"${subject.name}" keeps the law ${law.name} (${runs} logs).`;
  const { events, reason, path, shrinks } = broken;
  const count = events.length === 1 ? "1 event" : `${events.length} events`;
  return [
    `"${subject.name}" breaks the law ${law.name}: ${law.statement}.`,
    `  ${reason}`,
    `${count}, after ${runs} logs and ${shrinks} steps of shrinking:`,
    ...counterexampleLines(broken).slice(1),
    `Repeat it with { laws: ["${law.name}"], seed: ${seed}, path: "${path}" }.`,
  ].join("\n");
}

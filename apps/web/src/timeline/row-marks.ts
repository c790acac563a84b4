import type { TimelineMark } from "../../../../projections/timeline-index.ts";
import { type IndexedEvent, redactedVersions } from "../thread-view/indexed-events.ts";
import type { RowMarks } from "./event-row.tsx";

/**
 * Reads what the marks of a thread say about its events.
 *
 * @param current versions, first and last, that the state at the head builds on
 */
export function createMarkReader(
  marks: readonly TimelineMark[],
  current: readonly (readonly [from: number, to: number])[],
): (event: IndexedEvent) => RowMarks {
  const redacted = redactedVersions(marks);
  const byVersion = new Map<number, TimelineMark[]>();
  for (const mark of marks) byVersion.set(mark.version, [...(byVersion.get(mark.version) ?? []), mark]);
  return ({ version }) => {
    const own = byVersion.get(version) ?? [];
    const rewound = own.find((mark) => mark.kind === "rewound");
    const forked = own.find((mark) => mark.kind === "forked");
    return {
      redacted: redacted.has(version),
      abandoned: current.length > 0 && !current.some(([from, to]) => version >= from && version <= to),
      names: own.flatMap((mark) => (mark.kind === "named" ? [mark.name] : [])),
      rewoundTo: rewound?.to,
      forkedFrom: forked && { thread: forked.parentThreadId, version: forked.parentVersion },
    };
  };
}

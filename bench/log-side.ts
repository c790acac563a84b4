import type { NewEvent } from "../events/envelope.ts";
import type { EventLog } from "../events/log/event-log.ts";
import { rate } from "./rate.ts";

/** One side of the comparison of a log with its bare client or driver, on connections that are made already. */
export interface LogSide {
  /** Appends events one by one to a stream that has `version` events; events for each second. */
  append(stream: string, version: number, events: readonly NewEvent[]): Promise<number>;
  /** Reads all events; events for each second. */
  readAll(count: number): Promise<number>;
  close(): Promise<void>;
}

/** The side of the log. */
export function sideOf(log: EventLog): LogSide {
  return {
    append: (stream, version, events) =>
      rate(events.length, async () => {
        for (const [index, event] of events.entries()) {
          await log.append(stream, [event], { expectedVersion: version + index });
        }
      }),
    readAll: (count) =>
      rate(count, async () => {
        let read = 0;
        for await (const page of log.readAll()) read += page.length;
        if (read !== count) throw new Error(`${read} of ${count} events were read`);
      }),
    close: () => log.close(),
  };
}

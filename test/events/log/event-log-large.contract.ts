import { describe, expect, it } from "vitest";
import type { EventLog } from "../../../events/log/event-log.ts";
import { collect, newEvents } from "./new-events.ts";
import { brokenLinkIn } from "./renamed-log.ts";

const stream = "thread-1";

/** @param many events, a multiple of 2,000 */
export function describeInTheLarge(current: () => EventLog, many: number): void {
  describe("in the large", () => {
    it(`holds ${many} events`, { timeout: 480_000 }, async () => {
      const log = current();
      const perBatch = 1000;
      for (let version = 0; version < many; version += perBatch) {
        const batch = newEvents(perBatch, { data: { number: version } });
        await log.append(version % 2000 === 0 ? stream : "thread-2", batch, { expectedVersion: "any" });
      }
      let count = 0;
      let before = "";
      for await (const page of log.readAll()) {
        for (const { position } of page) {
          if (position <= before) throw new Error(`${position} comes after ${before}`);
          before = position;
        }
        count += page.length;
      }
      expect(count).toBe(many);
      expect(await log.head(stream)).toMatchObject({ version: many / 2 });
      expect(brokenLinkIn(log, await collect(log.read(stream)))).toBeUndefined();
      const [last] = await collect(log.read(stream, { backwards: true, limit: 1 }));
      expect(last?.version).toBe(many / 2);
    });
  });
}

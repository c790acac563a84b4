import { beforeEach, describe, expect, it } from "vitest";
import type { RecordedEvent } from "../../../events/envelope.ts";
import type { EventLog } from "../../../events/log/event-log.ts";
import { collect, newEvent, newEvents } from "./new-events.ts";

const stream = "thread-1";

/** Ranges, directions, filters, order and listing. */
export function describeReads(current: () => EventLog): void {
  let log: EventLog;
  beforeEach(() => {
    log = current();
  });
  const readAll = () => collect(log.readAll());
  const versionsOf = (events: readonly RecordedEvent[]) => events.map((event) => event.version);
  describe("read", () => {
    beforeEach(async () => {
      for (let version = 0; version < 12; version++) {
        const type = version % 3 === 0 ? "TodosWritten" : version === 4 ? "ThreadRewound" : "TitleSet";
        await log.append(stream, [newEvent({ type })], { expectedVersion: version });
        await log.append("thread-2", [newEvent({ type })], { expectedVersion: version });
      }
    });

    it.each([
      [{}, [1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12]],
      [{ from: 10 }, [10, 11, 12]],
      [{ to: 2 }, [1, 2]],
      [{ from: 3, to: 3 }, [3]],
      [{ from: 5, to: 4 }, []],
      [{ from: 13 }, []],
      [{ from: 0, to: 99, limit: 2 }, [1, 2]],
      [{ limit: 0 }, []],
      [{ backwards: true, limit: 3 }, [12, 11, 10]],
      [{ backwards: true, from: 2, to: 4 }, [4, 3, 2]],
      [{ types: ["TodosWritten"] }, [1, 4, 7, 10]],
      [{ types: ["TodosWritten"], backwards: true, limit: 2 }, [10, 7]],
      [{ types: ["TodosWritten", "ThreadRewound"], from: 2 }, [4, 5, 7, 10]],
      [{ types: ["ThreadRewound", "ThreadForked"] }, [5]],
      [{ types: ["ThreadForked"] }, []],
      [{ types: ["NobodyWroteThis"] }, []],
      [{ types: [] }, []],
    ])("gives the versions asked for: %j", async (options, versions) => {
      const events = await collect(log.read(stream, options));
      expect(versionsOf(events)).toEqual(versions);
      const all = await collect(log.read(stream));
      for (const event of events) expect(event).toEqual(all[event.version - 1]);
    });

    it("is empty for a stream that is not there", async () => {
      expect(await collect(log.read("thread-none"))).toEqual([]);
    });

    it("gives a fold the same events with less around them", async () => {
      if (!log.readForFold) return;
      for (const options of [
        {},
        { from: 3, to: 9 },
        { types: ["TodosWritten"] },
        { types: ["ThreadRewound"] },
      ]) {
        const expected = (await collect(log.read(stream, options))).map(
          ({ type, data, version, metadata }) => ({
            type,
            data,
            version,
            schema: metadata.schema,
          }),
        );
        expect(await collect(log.readForFold(stream, options))).toEqual(expected);
      }
      expect(await collect(log.readForFold("thread-none"))).toEqual([]);
    });

    it("gives all streams in order of position", async () => {
      const events = await readAll();
      const positions = events.map(({ position }) => position);
      expect(events).toHaveLength(24);
      expect(positions).toEqual([...positions].sort());
      expect(new Set(positions).size).toBe(24);
      for (const name of [stream, "thread-2"]) {
        expect(events.filter((event) => event.stream === name)).toEqual(await collect(log.read(name)));
      }
    });

    it("goes on after a position, with limit and types", async () => {
      const events = await readAll();
      const after = events[9]?.position ?? "";
      expect(await collect(log.readAll({ after }))).toEqual(events.slice(10));
      expect(await collect(log.readAll({ after, limit: 3 }))).toEqual(events.slice(10, 13));
      expect(await collect(log.readAll({ after: events.at(-1)?.position ?? "" }))).toEqual([]);
      expect(await collect(log.readAll({ types: ["TodosWritten"], limit: 5 }))).toEqual(
        events.filter(({ type }) => type === "TodosWritten").slice(0, 5),
      );
      expect(await collect(log.readAll({ types: ["NobodyWroteThis"] }))).toEqual([]);
    });

    it("lists streams by name with their first and last times", async () => {
      await log.append("other-1", newEvents(2), { expectedVersion: 0 });
      const summaries = await log.streams();
      expect(summaries.map((summary) => summary.stream)).toEqual(["other-1", "thread-1", "thread-2"]);
      const events = await collect(log.read(stream));
      expect(summaries[1]).toEqual({
        stream,
        version: 12,
        firstRecordedAt: events[0]?.recordedAt,
        lastRecordedAt: events[11]?.recordedAt,
      });
      const names = async (options: Parameters<EventLog["streams"]>[0]) =>
        (await log.streams(options)).map((summary) => summary.stream);
      expect(await names({ prefix: "thread-" })).toEqual(["thread-1", "thread-2"]);
      expect(await names({ after: "thread-1" })).toEqual(["thread-2"]);
      expect(await names({ prefix: "thread-", limit: 1 })).toEqual(["thread-1"]);
      expect(await names({ prefix: "none" })).toEqual([]);
    });
  });
}

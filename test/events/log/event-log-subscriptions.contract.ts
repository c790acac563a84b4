import { beforeEach, describe, expect, it } from "vitest";
import type { RecordedEvent } from "../../../events/envelope.ts";
import type { EventLog, SubscriptionItem } from "../../../events/log/event-log.ts";
import { collect, newEvent, newEvents } from "./new-events.ts";

const stream = "thread-1";

/** Takes items until one satisfies `isLast`, and ends the subscription. */
export async function takeUntil(
  items: AsyncIterable<SubscriptionItem>,
  isLast: (item: SubscriptionItem, taken: readonly SubscriptionItem[]) => boolean,
): Promise<SubscriptionItem[]> {
  const taken: SubscriptionItem[] = [];
  for await (const item of items) {
    taken.push(item);
    if (isLast(item, taken)) break;
  }
  return taken;
}

export function eventsOf(items: readonly SubscriptionItem[]): RecordedEvent[] {
  return items.flatMap((item) => (item.kind === "event" ? [item.event] : []));
}

/** Catch-up, the caught-up mark, live events, resuming and ending. */
export function describeSubscriptions(current: () => EventLog): void {
  describe("subscribe", () => {
    let log: EventLog;
    beforeEach(() => {
      log = current();
    });

    it("gives what is there, says so once, and goes on with what comes", async () => {
      const old = await log.append(stream, newEvents(3), { expectedVersion: 0 });
      const subscription = log.subscribe();
      const live = takeUntil(subscription, (_item, taken) => taken.length === 6);
      const next = await log.append("thread-2", newEvents(2), { expectedVersion: 0 });
      const items = await live;
      expect(eventsOf(items)).toEqual([...old.events, ...next.events]);
      expect(items[3]).toEqual({ kind: "caught-up", position: old.position });
    });

    it("has caught up at once on an empty log", async () => {
      const [item] = await takeUntil(log.subscribe(), () => true);
      expect(item).toEqual({ kind: "caught-up", position: undefined });
    });

    it("resumes after a position without a gap and without a repetition", async () => {
      const { events } = await log.append(stream, newEvents(5), { expectedVersion: 0 });
      const after = events[1]?.position ?? "";
      const items = await takeUntil(log.subscribe({ after }), (item) => item.kind === "caught-up");
      expect(eventsOf(items)).toEqual(events.slice(2));
    });

    it("from the end gives only what comes after the call", async () => {
      const old = await log.append(stream, newEvents(3), { expectedVersion: 0 });
      const subscription = log.subscribe({ after: "end" });
      const next = await log.append(stream, newEvents(2), { expectedVersion: 3 });
      const items = await takeUntil(subscription, (_item, taken) => taken.length === 3);
      expect(items[0]).toEqual({ kind: "caught-up", position: old.position });
      expect(eventsOf(items)).toEqual(next.events);
    });

    it("gives only the types asked for", async () => {
      const subscription = log.subscribe({ types: ["TodosWritten"] });
      await log.append(stream, [newEvent(), newEvent({ type: "TodosWritten" })], { expectedVersion: 0 });
      const items = takeUntil(subscription, (_item, taken) => eventsOf(taken).length === 2);
      await log.append(stream, [newEvent({ type: "TodosWritten" }), newEvent()], { expectedVersion: 2 });
      expect(eventsOf(await items).map(({ version }) => version)).toEqual([2, 3]);
    });

    it("gives only the stream asked for, also when it begins later", async () => {
      await log.append("thread-2", newEvents(3), { expectedVersion: 0 });
      const items = takeUntil(log.subscribe({ stream }), (_item, taken) => eventsOf(taken).length === 2);
      await log.append(stream, newEvents(1), { expectedVersion: 0 });
      await log.append("thread-2", newEvents(1), { expectedVersion: 3 });
      await log.append(stream, newEvents(1), { expectedVersion: 1 });
      expect(eventsOf(await items).map((event) => [event.stream, event.version])).toEqual([
        [stream, 1],
        [stream, 2],
      ]);
    });

    it("resumes one stream after a position of the whole log", async () => {
      for (let version = 0; version < 4; version++) {
        await log.append(stream, newEvents(1), { expectedVersion: version });
        await log.append("thread-2", newEvents(1), { expectedVersion: version });
      }
      const after = (await collect(log.readAll()))[3]?.position ?? "";
      const items = await takeUntil(log.subscribe({ stream, after }), (item) => item.kind === "caught-up");
      expect(eventsOf(items).map(({ version }) => version)).toEqual([3, 4]);
    });

    it("ends when its signal aborts, also while it waits", async () => {
      const controller = new AbortController();
      const items: SubscriptionItem[] = [];
      for await (const item of log.subscribe({ signal: controller.signal })) {
        items.push(item);
        queueMicrotask(() => controller.abort());
      }
      expect(items).toHaveLength(1);
      const none = await takeUntil(log.subscribe({ signal: AbortSignal.abort() }), () => false);
      expect(none).toEqual([]);
    });

    it("ends when the log closes", async () => {
      for await (const item of log.subscribe()) {
        if (item.kind === "caught-up") void log.close();
      }
    });

    it("misses nothing while 8 writers append", async () => {
      const perWriter = 40;
      const tail = takeUntil(log.subscribe(), (_item, taken) => eventsOf(taken).length === 8 * perWriter);
      const write = async (writer: number) => {
        for (let version = 0; version < perWriter; version++) {
          await log.append(`thread-${writer}`, newEvents(1), { expectedVersion: version });
        }
      };
      await Promise.all(Array.from({ length: 8 }, (_, writer) => write(writer)));
      expect(eventsOf(await tail)).toEqual(await collect(log.readAll()));
    });
  });
}

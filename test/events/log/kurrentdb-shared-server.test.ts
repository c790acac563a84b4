import { setTimeout as pause } from "node:timers/promises";
import * as client from "@kurrent/kurrentdb-client";
import { expect, onTestFinished, test } from "vitest";
import { DamagedEventError } from "../../../events/log/event-log.ts";
import { type KurrentModule, openKurrentDb } from "../../../events/log/kurrentdb.ts";
import { fromPosition } from "../../../events/log/position.ts";
import { startEventStoreDouble } from "./event-store-double/server.ts";
import { collect, newEvents } from "./new-events.ts";

/** A server that another program uses, too. */
async function start() {
  const double = await startEventStoreDouble();
  onTestFinished(() => double.stop());
  const other = client.KurrentDBClient.connectionString`${double.url}`;
  onTestFinished(() => other.dispose());
  const ordered = (stream: string, count: number) =>
    other.appendToStream(
      stream,
      Array.from({ length: count }, (_, n) =>
        client.jsonEvent({
          type: n % 2 ? "OrderPlaced" : "RunStarted",
          data: { n },
          metadata: { by: "shop" },
        }),
      ),
    );
  /** Where reads of all streams began. */
  const starts: bigint[] = [];
  const watched: KurrentModule = {
    KurrentDBClient: {
      connectionString(text, ...parts) {
        const made = client.KurrentDBClient.connectionString(text, ...parts);
        const readAll = made.readAll.bind(made);
        made.readAll = (options) => {
          const from = options?.fromPosition;
          if (options?.direction === "forwards") starts.push(typeof from === "object" ? from.commit : 0n);
          return readAll(options);
        };
        return made;
      },
    },
  };
  const { log } = await openKurrentDb(double.url, { client: watched, pollIntervalMs: 20 });
  onTestFinished(() => log.close());
  return { log, ordered, starts };
}

test("what others write into streams of theirs is passed over", async () => {
  const { log, ordered } = await start();
  await ordered("order-1", 3);
  await log.append("thread-1", newEvents(2), { expectedVersion: 0 });
  await ordered("order-2", 30);
  const items = log.subscribe()[Symbol.asyncIterator]();
  const seen: string[] = [];
  for (;;) {
    const { value } = await items.next();
    if (value?.kind === "caught-up") break;
    if (value?.kind === "event") seen.push(`${value.event.stream}@${value.event.version}`);
  }
  await items.return?.();
  expect(seen).toEqual(["thread-1@1", "thread-1@2"]);
  expect((await collect(log.readAll())).map(({ stream }) => stream)).toEqual(["thread-1", "thread-1"]);
  expect((await log.streams()).map(({ stream, version }) => [stream, version])).toEqual([["thread-1", 2]]);
  await log.append("thread-1", newEvents(1), { expectedVersion: 2 });
  expect(await collect(log.readAll({ types: ["RunStarted"] }))).toEqual([]);
  expect(await collect(log.readAll())).toHaveLength(3);
});

test("what others write into a stream of ours is found on reading it", async () => {
  const { log, ordered } = await start();
  await log.append("thread-1", newEvents(2), { expectedVersion: 0 });
  await ordered("thread-1", 1);
  await expect(collect(log.read("thread-1"))).rejects.toThrow(DamagedEventError);
  await expect(log.append("thread-1", newEvents(1), { expectedVersion: "any" })).rejects.toThrow(
    DamagedEventError,
  );
});

test("a subscription does not read again what others wrote since its last event", async () => {
  const { log, ordered, starts } = await start();
  await log.append("thread-1", newEvents(1), { expectedVersion: 0 });
  const over = new AbortController();
  onTestFinished(() => over.abort());
  const seen: number[] = [];
  const following = (async () => {
    for await (const item of log.subscribe({ stream: "thread-1", signal: over.signal })) {
      if (item.kind === "event") seen.push(item.event.version);
    }
  })();
  await expect.poll(() => seen).toEqual([1]);
  await ordered("order-1", 50);
  await log.append("thread-2", newEvents(1), { expectedVersion: 0 });
  const [last] = await collect(log.read("thread-2"));
  await expect.poll(() => Number(starts.at(-1))).toBe(fromPosition(last?.position ?? ""));
  const reads = starts.length;
  await pause(200);
  // One for each look, and not one after the other.
  expect(starts.length - reads).toBeLessThan(30);
  await log.append("thread-1", newEvents(1), { expectedVersion: 1 });
  await expect.poll(() => seen).toEqual([1, 2]);
  over.abort();
  await following;
});

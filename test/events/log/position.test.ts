import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, it } from "vitest";
import { createMemoryLog } from "../../../events/log/memory.ts";
import { fromPosition, InvalidPositionError, toPosition } from "../../../events/log/position.ts";
import { openSqlite } from "../../../events/log/sqlite.ts";
import { collect } from "./new-events.ts";

it("positions sort as texts in the order of their places", () => {
  const places = [0, 1, 9, 10, 99_999, Number.MAX_SAFE_INTEGER];
  const positions = places.map(toPosition);
  expect([...positions].reverse().sort()).toEqual(positions);
  expect(positions.map(fromPosition)).toEqual(places);
});

it.each(["", "12", "1e5", "-000000000000001", "00000000000000010", "elsewhere:1"])(
  "a text that no log gave is no position: %j",
  async (bad) => {
    const folder = await mkdtemp(join(tmpdir(), "threadfold-position-"));
    for (const log of [createMemoryLog(), (await openSqlite(join(folder, "threads.db"))).log]) {
      await expect(collect(log.readAll({ after: bad }))).rejects.toThrow(InvalidPositionError);
      const subscription = log.subscribe({ after: bad });
      await expect(subscription[Symbol.asyncIterator]().next()).rejects.toThrow(InvalidPositionError);
      await log.close();
    }
    await rm(folder, { recursive: true });
  },
);

import { validate, version } from "uuid";
import { expect, test } from "vitest";
import { mintId } from "../../actors/mint-id.ts";

test("ids are UUIDv7, never the same, and sort in the order they were made", () => {
  const before = Date.now();
  const ids = Array.from({ length: 10_000 }, mintId);
  expect(ids.every((id) => validate(id) && version(id) === 7)).toBe(true);
  expect(new Set(ids).size).toBe(ids.length);
  expect(ids.toSorted()).toEqual(ids);
  const ms = Number.parseInt((ids[0] ?? "").replaceAll("-", "").slice(0, 12), 16);
  expect(ms).toBeGreaterThanOrEqual(before);
  expect(ms).toBeLessThanOrEqual(Date.now() + 1);
});

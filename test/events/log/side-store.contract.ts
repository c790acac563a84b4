import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { SideConflict, type SideStore } from "../../../events/log/side-store.ts";

/** One empty side store that was opened for one test. */
export interface SideUnderTest {
  readonly side: SideStore;
  dispose(): Promise<void>;
}

/** What every side store must do. */
export function describeSideStore(name: string, open: () => Promise<SideUnderTest>): void {
  describe(`side store: ${name}`, () => {
    let side: SideStore;
    let dispose: () => Promise<void>;
    beforeEach(async () => {
      ({ side, dispose } = await open());
    });
    afterEach(async () => {
      await dispose();
    });

    it("gives back what was put, with a revision that counts up", async () => {
      expect(await side.get("lease", "a")).toBeUndefined();
      expect(await side.put("lease", "a", { owner: "日本 \u0000", list: [1, null] })).toBe(1);
      expect(await side.get("lease", "a")).toEqual({
        key: "a",
        value: { owner: "日本 \u0000", list: [1, null] },
        revision: 1,
      });
      expect(await side.put("lease", "a", "another")).toBe(2);
      expect(await side.get("lease", "a")).toEqual({ key: "a", value: "another", revision: 2 });
    });

    it("writes only at the revision asked for", async () => {
      expect(await side.put("lease", "a", 1, { ifRevision: 0 })).toBe(1);
      await expect(side.put("lease", "a", 2, { ifRevision: 0 })).rejects.toThrow(SideConflict);
      await expect(side.put("lease", "a", 2, { ifRevision: 7 })).rejects.toMatchObject({
        kind: "lease",
        key: "a",
      });
      await expect(side.put("lease", "b", 2, { ifRevision: 1 })).rejects.toThrow(SideConflict);
      expect(await side.put("lease", "a", 2, { ifRevision: 1 })).toBe(2);
      expect(await side.get("lease", "a")).toMatchObject({ value: 2 });
    });

    it("lets exactly one of 20 take a lease", async () => {
      const takes = await Promise.allSettled(
        Array.from({ length: 20 }, (_, owner) => side.put("lease", "a", owner, { ifRevision: 0 })),
      );
      expect(takes.filter(({ status }) => status === "fulfilled")).toHaveLength(1);
    });

    it("keeps kinds apart, deletes, and lists by key", async () => {
      for (const key of ["b-1", "a-2", "a-10", "ä", "a-1"]) await side.put("snapshot", key, key);
      await side.put("lease", "a-1", "other kind");
      const keys = async (options?: Parameters<SideStore["list"]>[1]) =>
        (await side.list("snapshot", options)).map(({ key }) => key);
      expect(await keys()).toEqual(["a-1", "a-10", "a-2", "b-1", "ä"]);
      expect(await keys({ prefix: "a-" })).toEqual(["a-1", "a-10", "a-2"]);
      expect(await keys({ prefix: "a-", after: "a-1", limit: 1 })).toEqual(["a-10"]);
      expect(await keys({ limit: 0 })).toEqual([]);
      await side.delete("snapshot", "a-1");
      await side.delete("snapshot", "not there");
      expect(await side.get("snapshot", "a-1")).toBeUndefined();
      expect(await side.get("lease", "a-1")).toMatchObject({ value: "other kind" });
      expect(await side.put("snapshot", "a-1", "again", { ifRevision: 0 })).toBe(1);
    });

    it("holds a large record and does not change with what it was given", async () => {
      const value = { text: "ü".repeat(1_000_000), list: [1] };
      await side.put("snapshot", "large", value);
      value.list.push(2);
      expect((await side.get("snapshot", "large"))?.value).toEqual({ ...value, list: [1] });
    });

    it("refuses names that not every store can keep", async () => {
      const bad = "a\u0000b";
      for (const attempt of [
        () => side.put("lease", bad, 1),
        () => side.put(bad, "a", 1),
        () => side.get("lease", bad),
        () => side.delete("lease", bad),
      ]) {
        await expect(attempt()).rejects.toMatchObject({ name: "InvalidTextError", value: bad });
      }
    });

    it("refuses what is no JSON", async () => {
      await expect(side.put("lease", "a", Number.NaN)).rejects.toMatchObject({ name: "NotJsonError" });
    });
  });
}

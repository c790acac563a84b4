import { afterEach, beforeEach, describe, expect, test } from "vitest";
import type { Json } from "../../events/json.ts";
import {
  ProjectionConflict,
  type ProjectionStore,
  ProjectionTableMissingError,
  type StoredRow,
  type TableChange,
  type TableInfo,
} from "../../projections/projection-store.ts";

function row(key: string, value: Json, order = key, search = ""): StoredRow {
  return { key, value, order, search };
}

function change(expectedRevision: number, put: readonly StoredRow[], more: Partial<TableChange> = {}) {
  return { put, delete: [], checkpoint: "0001", events: put.length, skipped: [], expectedRevision, ...more };
}

const keysOf = (rows: readonly StoredRow[]) => rows.map(({ key }) => key);

/** What every store of projection rows must do. */
export function projectionStoreContract(kind: string, open: () => Promise<ProjectionStore>): void {
  describe(`${kind} projection store`, () => {
    let store: ProjectionStore;
    let table: TableInfo;

    beforeEach(async () => {
      store = await open();
      table = await store.open({ name: "list", version: 1, rows: [row("first", { from: "init" })] });
    });
    afterEach(() => store.close());

    test("a new table is live, at the beginning of the log, and holds the rows of init", async () => {
      expect(table).toEqual({
        table: "list@1/1",
        name: "list",
        version: 1,
        build: 1,
        state: "live",
        checkpoint: undefined,
        events: 0,
        revision: 0,
        from: undefined,
      });
      expect(await store.get("list", ["first", "other"])).toEqual(new Map([["first", { from: "init" }]]));
      expect(await store.open({ name: "list", version: 2, rows: [] })).toEqual(table);
    });

    test("a commit changes rows, checkpoint and counts together", async () => {
      const skipped = {
        position: "0003",
        eventId: "e3",
        stream: "thread-a",
        version: 3,
        type: "TitleSet",
        error: "no",
      };
      const values = { null: null, text: "你好 \u0000 \u{1F600}", deep: [{ a: 1e21 }], __proto__x: 1 };
      const revision = await store.commit(
        table.table,
        change(0, [row("a", values)], {
          delete: ["first"],
          checkpoint: "0003",
          events: 3,
          skipped: [skipped],
        }),
      );
      expect(revision).toBe(1);
      expect(await store.list("list")).toEqual([row("a", values)]);
      expect(await store.live("list")).toMatchObject({ checkpoint: "0003", events: 3, revision: 1 });
      expect(await store.skipped("list")).toEqual([skipped]);
    });

    test("a commit on a revision that is gone changes nothing", async () => {
      await store.commit(table.table, change(0, [row("a", 1)]));
      await expect(store.commit(table.table, change(0, [row("a", 2)]))).rejects.toThrow(ProjectionConflict);
      expect(await store.get("list", ["a"])).toEqual(new Map([["a", 1]]));
    });

    test("rows are listed by order, largest first, then by key, largest first, and paged by cursor", async () => {
      const rows = [row("a", 1, "2"), row("b", 2, "1"), row("c", 3, "2"), row("d", 4, "3")];
      await store.commit(table.table, change(0, rows, { delete: ["first"] }));
      expect(keysOf(await store.list("list"))).toEqual(["d", "c", "a", "b"]);
      expect(keysOf(await store.list("list", { limit: 2 }))).toEqual(["d", "c"]);
      expect(keysOf(await store.list("list", { after: { order: "2", key: "c" } }))).toEqual(["a", "b"]);
    });

    test("search finds parts of words in any case, and Chinese words of two characters", async () => {
      const rows = [
        row("a", 1, "", "quarterly report"),
        row("b", 2, "", "第三季度报告"),
        row("c", 3, "", "100%_x"),
      ];
      await store.commit(table.table, change(0, rows, { delete: ["first"] }));
      expect(keysOf(await store.list("list", { search: "REPORT" }))).toEqual(["a"]);
      expect(keysOf(await store.list("list", { search: "报告" }))).toEqual(["b"]);
      expect(keysOf(await store.list("list", { search: "%_" }))).toEqual(["c"]);
      expect(await store.count("list", { search: "r" })).toBe(1);
    });

    test("rows are found by prefix and by members, a missing member being null", async () => {
      const rows = [
        row("t/1", { status: "idle", metadata: { "a.b": true } }),
        row("t/2", { status: "idle", metadata: {}, n: 2 }),
        row("t%/3", { status: "busy", metadata: {}, n: 2 }),
      ];
      await store.commit(table.table, change(0, rows, { delete: ["first"] }));
      expect(keysOf(await store.list("list", { prefix: "t/" }))).toEqual(["t/2", "t/1"]);
      expect(keysOf(await store.list("list", { prefix: "t%" }))).toEqual(["t%/3"]);
      const idle = { path: ["status"], equals: "idle" };
      expect(await store.count("list", { match: [idle] })).toBe(2);
      const match = [idle, { path: ["metadata", "a.b"], equals: true }];
      expect(keysOf(await store.list("list", { match }))).toEqual(["t/1"]);
      expect(keysOf(await store.list("list", { match: [{ path: ["n"], equals: 2 }] }))).toHaveLength(2);
      expect(keysOf(await store.list("list", { match: [{ path: ["n"], equals: null }] }))).toEqual(["t/1"]);
    });

    test("a built table serves only after the switch, and the one before is retired", async () => {
      const shadow = await store.build({ name: "list", version: 2, rows: [] });
      expect(shadow).toMatchObject({ table: "list@2/2", state: "building" });
      const revision = await store.commit(shadow.table, change(0, [row("new", 1)]));
      expect(keysOf(await store.list("list"))).toEqual(["first"]);
      await expect(store.switchTo(shadow.table, 0)).rejects.toThrow(ProjectionConflict);
      expect(await store.switchTo(shadow.table, revision)).toBe(true);
      expect(keysOf(await store.list("list"))).toEqual(["new"]);
      expect((await store.tables("list")).map(({ table: name, state }) => [name, state])).toEqual([
        ["list@1/1", "retired"],
        ["list@2/2", "live"],
      ]);
      await expect(store.commit(table.table, change(0, [row("late", 1)]))).rejects.toThrow(
        ProjectionConflict,
      );
      await store.drop(table.table);
      expect(await store.tables()).toHaveLength(1);
      await expect(store.list(table.table)).rejects.toThrow(ProjectionTableMissingError);
    });

    test("a table of the same version that is behind the live one does not take its place", async () => {
      const shadow = await store.build({ name: "list", version: 1, rows: [] });
      await store.commit(table.table, change(0, [], { checkpoint: "0009" }));
      const revision = await store.commit(shadow.table, change(0, [], { checkpoint: "0008" }));
      expect(await store.switchTo(shadow.table, revision)).toBe(false);
      await store.commit(shadow.table, change(revision, [], { checkpoint: "0009" }));
      expect(await store.switchTo(shadow.table, revision + 1)).toBe(true);
    });

    test("a table that begins in the middle keeps where it began", async () => {
      const shadow = await store.build({ name: "list", version: 1, from: "0005", rows: [] });
      expect(shadow).toMatchObject({ from: "0005", checkpoint: "0005" });
    });

    test("comparing names the first differences and counts them all", async () => {
      const shadow = await store.build({ name: "list", version: 1, rows: [] });
      await store.commit(
        table.table,
        change(0, [row("a", 1), row("b", { x: 1 }), row("d", 4)], { delete: ["first"] }),
      );
      await store.commit(shadow.table, change(0, [row("a", 1), row("b", { x: 2 }), row("c", 3)]));
      const comparison = await store.compare("list", shadow.table, 2);
      expect(comparison).toMatchObject({
        differing: 3,
        left: { table: "list@1/1" },
        right: { table: shadow.table },
      });
      expect(comparison.differences).toEqual([
        { key: "b", left: { x: 1 }, right: { x: 2 } },
        { key: "c", left: undefined, right: 3 },
      ]);
    });

    test("comparing also looks at the order and the search text, and its table never serves", async () => {
      const shadow = await store.build({ name: "list", version: 1, rows: [], state: "comparing" });
      expect(shadow.state).toBe("comparing");
      const one = row("a", 1);
      await store.commit(table.table, change(0, [one, row("b", 2)], { delete: ["first"] }));
      await store.commit(
        shadow.table,
        change(0, [
          { ...one, order: "elsewhere" },
          { ...row("b", 2), search: "other words" },
        ]),
      );
      expect(await store.compare("list", shadow.table, 5)).toMatchObject({ differing: 2 });
      await expect(store.switchTo(shadow.table, 1)).rejects.toThrow(ProjectionConflict);
    });

    test("reading a projection that was never started names it", async () => {
      await expect(store.list("nothing")).rejects.toThrow(/no rows of "nothing" yet/);
      expect(await store.live("nothing")).toBeUndefined();
    });
  });
}

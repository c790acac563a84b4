import { mkdtemp, readdir, readFile, rm, stat, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { LogFormatError } from "../../events/log/event-log.ts";
import { openSqliteProjectionStore } from "../../projections/sqlite-projection-store.ts";
import { projectionStoreContract } from "./projection-store.contract.ts";

let folder: string;
let files = 0;
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), "threadfold-projections-"));
});
afterAll(() => rm(folder, { recursive: true, force: true }));
const nextFile = () => join(folder, `${files++}`, "rows.db");

projectionStoreContract("sqlite", () => openSqliteProjectionStore(nextFile()));

const row = (key: string, value: string) => ({ key, value, order: "", search: value });
const list = { name: "list", version: 1, rows: [] };

describe("the file", () => {
  test("can be read by its owner only", async () => {
    const path = nextFile();
    const store = await openSqliteProjectionStore(path);
    await store.open(list);
    expect((await stat(path)).mode & 0o777).toBe(0o600);
    expect((await stat(`${path}-wal`)).mode & 0o777).toBe(0o600);
    await store.close();
  });

  test("keeps rows and checkpoint when it is closed and opened, and two processes see the same", async () => {
    const path = nextFile();
    const one = await openSqliteProjectionStore(path);
    const { table } = await one.open(list);
    const other = await openSqliteProjectionStore(path);
    const change = { delete: [], checkpoint: "7", events: 1, skipped: [], expectedRevision: 0 };
    await one.commit(table, { ...change, put: [row("a", "x")] });
    expect(await other.get("list", ["a"])).toEqual(new Map([["a", "x"]]));
    await one.close();
    await other.close();
    const again = await openSqliteProjectionStore(path);
    expect(await again.live("list")).toMatchObject({ checkpoint: "7", revision: 1 });
    await again.close();
  });

  test("holds no byte of deleted rows after a purge", async () => {
    const path = nextFile();
    const store = await openSqliteProjectionStore(path);
    const { table } = await store.open(list);
    const change = { delete: [], checkpoint: "1", events: 1, skipped: [], expectedRevision: 0 };
    const rows = Array.from({ length: 200 }, (_, index) =>
      row(`k${index}`, `TopSecret${"x".repeat(index * 7)}`),
    );
    await store.commit(table, { ...change, put: [...rows, row("stay", "harmless")] });
    const gone = { ...change, put: [], delete: rows.map(({ key }) => key), expectedRevision: 1 };
    await store.commit(table, gone);
    await store.purge();
    for (const name of await readdir(join(path, ".."))) {
      expect((await readFile(join(path, "..", name))).includes("TopSecret"), name).toBe(false);
    }
    expect(await store.get("list", ["stay"])).toEqual(new Map([["stay", "harmless"]]));
    await store.close();
  });

  test("is refused when it is something else", async () => {
    const path = join(folder, "foreign.db");
    await writeFile(path, "this is no database, but it is long enough to be looked at as one".repeat(20));
    await expect(openSqliteProjectionStore(path)).rejects.toThrow(LogFormatError);
  });
});

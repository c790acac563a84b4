import { expect, it } from "vitest";
import { loadSqliteDriver } from "../../../events/log/sqlite-driver.ts";

const [major = 0, minor = 0] = process.versions.node.split(".").map(Number);
const hasCompleteModule = major >= 24 || (major === 22 && minor >= 16);

it("is the module built into Node where it is complete, and the package elsewhere", async () => {
  const { name } = await loadSqliteDriver();
  expect(name).toBe(hasCompleteModule ? "node:sqlite" : "@photostructure/sqlite");
});

it("gives rows as arrays, and texts, numbers, bytes and nulls as they are", async () => {
  const database = (await loadSqliteDriver()).open(":memory:");
  const select = database.prepare("SELECT ?, ?, ?, NULL");
  const row = select.get("日本ü", 2 ** 53 - 1, new Uint8Array([0, 255]));
  expect(row?.map((value) => (value instanceof Uint8Array ? [...value] : value))).toEqual([
    "日本ü",
    2 ** 53 - 1,
    [0, 255],
    null,
  ]);
  expect(select.all("a", 1, new Uint8Array())).toHaveLength(1);
  database.close();
});

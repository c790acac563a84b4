import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, it } from "vitest";
import { createMemorySide } from "../../../events/log/memory-side.ts";
import { openSqlite } from "../../../events/log/sqlite.ts";
import { describeSideStore } from "./side-store.contract.ts";

describeSideStore("memory", async () => ({ side: createMemorySide(), dispose: async () => {} }));

async function openInFolder() {
  const folder = await mkdtemp(join(tmpdir(), "threadfold-side-"));
  const path = join(folder, "threads.db");
  const { log, side } = await openSqlite(path);
  const dispose = async () => {
    await log.close();
    await rm(folder, { recursive: true });
  };
  return { path, side, dispose };
}

describeSideStore("sqlite", openInFolder);

it("records of one connection are compared and set by another", async () => {
  const { path, side, dispose } = await openInFolder();
  const other = await openSqlite(path);
  expect(await side.put("lease", "a", "first", { ifRevision: 0 })).toBe(1);
  await expect(other.side.put("lease", "a", "second", { ifRevision: 0 })).rejects.toMatchObject({ key: "a" });
  expect(await other.side.put("lease", "a", "second", { ifRevision: 1 })).toBe(2);
  expect(await side.get("lease", "a")).toMatchObject({ value: "second", revision: 2 });
  await other.log.close();
  await dispose();
});

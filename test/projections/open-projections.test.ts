import { mkdtemp, readdir, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { openStore } from "../../events/open-store.ts";
import { RunStarted } from "../../events/run.ts";
import { TitleSet } from "../../events/title.ts";
import { builtInProjections } from "../../projections/built-in.ts";
import {
  openProjections,
  ProjectionNotOpenError,
  projectionFileOf,
} from "../../projections/open-projections.ts";
import { listThreads, threadList } from "../../projections/thread-list.ts";
import { usage } from "../../projections/usage.ts";
import { appendDrafts } from "./append-drafts.ts";

let folder: string;
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), "threadfold-open-projections-"));
});
afterEach(() => rm(folder, { recursive: true }));

describe("the projections of a store", () => {
  test("are kept beside its file, follow its log, and go on when they are opened again", async () => {
    const store = await openStore(join(folder, "my.db"));
    for (const title of ["First", "Second"]) {
      const projections = await openProjections(store);
      const [event] = await appendDrafts(store.log, "t", [TitleSet({ title, origin: "user" })]);
      await projections.whenCaughtUp(event?.position ?? "");
      const [row] = await listThreads(projections.view(threadList), { search: title });
      expect(row?.row).toMatchObject({ title });
      const status = await projections.status();
      expect(status.map(({ name }) => name)).toEqual(builtInProjections.map(({ name }) => name));
      await projections.close();
    }
    expect(await readdir(folder)).toContain("my.projections.db");
    await store.close();
  });

  test("have names that belong to one log each, and no file for memory", () => {
    expect(projectionFileOf({ url: "sqlite:/data/a.db", folder: "/data" })).toBe("/data/a.projections.db");
    expect(projectionFileOf({ url: "b.sqlite", folder: "." })).toBe("b.sqlite.projections.db");
    expect(projectionFileOf({ url: "kurrentdb://host", folder: "/data" })).toBe("/data/projections.db");
    expect(projectionFileOf({ url: "memory:", folder: "/tmp/x" })).toBeUndefined();
  });

  test("are those that were asked for", async () => {
    const store = await openStore("memory:");
    const projections = await openProjections(store, { projections: [threadList] });
    expect(() => projections.view(usage)).toThrow(ProjectionNotOpenError);
    await appendDrafts(store.log, "t", [RunStarted({ runId: "r", owner: "me" })]);
    await projections.close();
    await store.close();
  });
});

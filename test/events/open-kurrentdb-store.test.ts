import { existsSync } from "node:fs";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, it } from "vitest";
import { openStore } from "../../events/open-store.ts";
import { startEventStoreDouble } from "./log/event-store-double/server.ts";
import { collect, newEvents } from "./log/new-events.ts";

it.each(["kurrentdb", "esdb"])(
  "%s: URLs open a log on the server, with the rest in a folder",
  async (scheme) => {
    const double = await startEventStoreDouble();
    const folder = await mkdtemp(join(tmpdir(), "threadfold-kurrentdb-"));
    const url = `${double.url.replace("kurrentdb", scheme)}&side=${encodeURIComponent(folder)}`;
    const store = await openStore(url);
    expect(store.folder).toBe(folder);
    expect(store.log.kind).toBe("kurrentdb");
    const { events } = await store.log.append("thread-1", newEvents(2), { expectedVersion: 0 });
    await store.side.put("lease", "a", 1);
    await store.close();
    const again = await openStore(url);
    expect(await collect(again.log.read("thread-1"))).toEqual(events);
    expect(await again.side.get("lease", "a")).toMatchObject({ value: 1 });
    await again.close();
    expect(existsSync(join(folder, "side.db"))).toBe(true);
    await double.stop();
    await rm(folder, { recursive: true });
  },
);

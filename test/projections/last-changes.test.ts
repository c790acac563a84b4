import { readdirSync, readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { expect, test } from "vitest";
import { threadStream } from "../../events/envelope.ts";
import { createEventRegistry } from "../../events/event-registry.ts";
import { openStore } from "../../events/open-store.ts";
import { readLastChanges } from "../../projections/last-changes.ts";
import { createStateReader } from "../../projections/state-at.ts";
import { importText } from "../../projections/thread-import.ts";
import { createThreadReducer } from "../../reducers/built-in.ts";

const folder = fileURLToPath(new URL("../histories/0.1.0/", import.meta.url));

test.each(readdirSync(folder).filter((name) => name.endsWith(".ndjson")))(
  "at every version of %s each field names the event that blame finds last",
  async (name) => {
    const store = await openStore("memory:");
    const { threads } = await importText(store, readFileSync(`${folder}${name}`, "utf8"));
    const reducer = createThreadReducer();
    const reader = createStateReader({ ...store, reducer, registry: createEventRegistry() });
    for (const { threadId } of threads) {
      const { version: head } = await store.log.head(threadStream(threadId));
      for (let version = 0; version <= head; version += version < 4 || version > head - 4 ? 1 : 3) {
        const changes = await readLastChanges({ log: store.log, reducer, reader }, threadId, version);
        for (const field of reducer.fields) {
          const found = changes.find((change) => change.field === field);
          const last = await reader.lastChanged(threadId, field, { at: version });
          // A message event always counts as a change; blame compares.
          if (field === "messages" && found && last)
            expect(found.version).toBeGreaterThanOrEqual(last.version);
          else
            expect([field, found?.version, found?.threadId]).toEqual([field, last?.version, last?.threadId]);
        }
      }
    }
    await store.close();
  },
);

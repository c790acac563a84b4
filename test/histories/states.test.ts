import { readdirSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { describe, expect, test } from "vitest";
import { forkThread } from "../../actors/fork-thread.ts";
import { threadStream } from "../../events/envelope.ts";
import { createEventRegistry } from "../../events/event-registry.ts";
import { createMemorySide } from "../../events/log/memory-side.ts";
import { openStore } from "../../events/open-store.ts";
import { openExport } from "../../projections/open-export.ts";
import { withoutMessages } from "../../projections/snapshot-pace.ts";
import { createSnapshots, snapshotKind } from "../../projections/snapshots.ts";
import { createStateReader } from "../../projections/state-at.ts";
import { exportThreads } from "../../projections/thread-export.ts";
import { importThreads } from "../../projections/thread-import.ts";
import { createThreadReducer } from "../../reducers/built-in.ts";

const folder = fileURLToPath(new URL(".", import.meta.url));
const files = readdirSync(folder, { withFileTypes: true })
  .filter((entry) => entry.isDirectory())
  .flatMap(({ name }) => readdirSync(join(folder, name)).map((file) => `${name}/${file}`));
const reading = { reducer: createThreadReducer({ openFields: true }), registry: createEventRegistry() };

describe("for every prefix of every history", () => {
  test.each(files)(
    "%s: the state with snapshots, without, from an export, and in a fork is the same",
    async (file) => {
      const source = await openExport(join(folder, file));
      const store = await openStore("memory:");
      const lines: string[] = [];
      for await (const line of exportThreads(source.log, source.threadIds)) lines.push(line);
      await importThreads(store, lines);
      const plain = createStateReader({ ...store, ...reading, cachedStates: 1 });
      const side = createMemorySide();
      const { description } = reading.reducer;
      const snapshots = createSnapshots({ log: store.log, side, description });
      const exported = createStateReader({ ...source, ...reading });
      for (const threadId of source.threadIds) {
        const { version: head } = await store.log.head(threadStream(threadId));
        for (let version = 0; version <= head; version++) {
          const expected = await plain.stateAt(threadId, version);
          expect(await exported.stateAt(threadId, version)).toEqual(expected);
          const childId = `${threadId}-at-${version}`;
          await forkThread(store, { parentId: threadId, childId, at: version, metadata: undefined });
          expect(await plain.stateAt(childId)).toEqual(expected);
          const at = { stream: threadStream(threadId), version };
          if (version > 0)
            snapshots.write(at, { fields: withoutMessages(expected), messagesFrom: undefined });
          await snapshots.settled();
          const fresh = createStateReader({ log: store.log, side, ...reading });
          expect(await fresh.stateAt(threadId, version)).toEqual(expected);
        }
        // There was something to read.
        expect(await side.list(snapshotKind)).not.toEqual([]);
      }
      await store.close();
      await source.close();
    },
  );
});

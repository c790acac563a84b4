import { VersionConflict } from "../../../events/log/event-log.ts";
import { openStore } from "../../../events/open-store.ts";
import { newEvent } from "./new-events.ts";

/*
 * A writer for the tests of shared stores: appends to each stream in turn, at the version that it saw last, and takes
 * the actual version when somebody else was faster.
 */
const [url, eventsPerStream, ...streams] = process.argv.slice(2);
const store = await openStore(url);
const versions = new Map<string, number>();

async function appendOne(stream: string): Promise<void> {
  const event = newEvent();
  for (;;) {
    const expectedVersion = versions.get(stream) ?? 0;
    try {
      const { version } = await store.log.append(stream, [event], { expectedVersion });
      versions.set(stream, version);
      return;
    } catch (error) {
      if (!(error instanceof VersionConflict)) throw error;
      versions.set(stream, error.actual);
    }
  }
}

for (let count = 0; count < Number(eventsPerStream); count++) {
  for (const stream of streams) await appendOne(stream);
}
await store.close();

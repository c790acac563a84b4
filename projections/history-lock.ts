import { setTimeout as pause } from "node:timers/promises";
import { SideConflict, type SideStore } from "../events/log/side-store.ts";
import { lazySchema } from "../events/zod.ts";

const kind = "history-lock";
const lockSchema = lazySchema((z) => z.object({ until: z.number() }));

/** Milliseconds after which the lock of a process that died is taken over. The work under it takes a few reads and an append. */
const lockMs = 10_000;
const lookMs = 20;

async function acquire(side: SideStore, stream: string): Promise<void> {
  for (;;) {
    const record = await side.get(kind, stream);
    const held = lockSchema().safeParse(record?.value);
    if (!held.success || held.data.until < Date.now()) {
      try {
        await side.put(kind, stream, { until: Date.now() + lockMs }, { ifRevision: record?.revision ?? 0 });
        return;
      } catch (error) {
        if (!(error instanceof SideConflict)) throw error;
      }
    }
    await pause(lookMs);
  }
}

/**
 * Lets one of those work who put a fork onto the history of a thread or take that history away, in whatever process:
 * the streams of the two are different, so the log alone lets both.
 */
export async function holdingHistory<Result>(
  side: SideStore,
  stream: string,
  work: () => Promise<Result>,
): Promise<Result> {
  await acquire(side, stream);
  try {
    return await work();
  } finally {
    await side.delete(kind, stream);
  }
}

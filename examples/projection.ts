import { createEventRegistry } from "../events/event-registry.ts";
import { openStore } from "../events/open-store.ts";
import { defineProjection } from "../projections/define-projection.ts";
import { openProjections } from "../projections/open-projections.ts";

/** A read model of one's own: how many runs each day began, and how many of them failed. */
export const runsPerDay = defineProjection<{ started: number; failed: number }>({
  name: "runs-per-day",
  version: 1,
  handlers: {
    RunStarted(rows, event) {
      const day = event.recordedAt.slice(0, 10);
      const row = rows.get(day) ?? { started: 0, failed: 0 };
      rows.put(day, { ...row, started: row.started + 1 });
    },
    RunFailed(rows, event) {
      const day = event.recordedAt.slice(0, 10);
      const row = rows.get(day) ?? { started: 0, failed: 0 };
      rows.put(day, { ...row, failed: row.failed + 1 });
    },
  },
});

const store = await openStore(process.argv[2] ?? "sqlite:.threadfold/threads.db");
const projections = await openProjections(store, {
  projections: [runsPerDay],
  registry: createEventRegistry(),
});
for await (const item of store.log.subscribe({ after: "end" })) {
  if (item.kind === "caught-up" && item.position !== undefined) await projections.whenCaughtUp(item.position);
  break;
}
for (const { key, row } of await projections.view(runsPerDay).list()) {
  console.log(`${key}  ${row.started} runs, ${row.failed} failed`);
}
await projections.close();
await store.close();

import fc from "fast-check";
import { expect, test } from "vitest";
import { createEventRegistry } from "../../events/event-registry.ts";
import { deepFreeze } from "../../events/log/deep-freeze.ts";
import { createThreadReducer } from "../../reducers/built-in.ts";
import { bulk } from "../../testing/laws/bulk.ts";
import { jsonClosed } from "../../testing/laws/json-closed.ts";
import { total } from "../../testing/laws/total.ts";
import { stateSubject } from "../../testing/subject-of.ts";

const events = 1_000_000;
const differentEvents = 100_000;
const eventsPerLog = 100;
/** Every so many logs are folded once more in bulk, and looked at for what JSON cannot hold. */
const closerLook = 20;

test("a million generated events fold through all reducers, and none fails", { timeout: 300_000 }, () => {
  const source = { reducer: createThreadReducer({ openFields: true }), registry: createEventRegistry() };
  const subject = stateSubject(source);
  const seed = Number(process.env.FAST_CHECK_SEED ?? Math.floor(Math.random() * 2 ** 31));
  const drafts = fc.sample(subject.drafts, { numRuns: differentEvents, seed }).map(deepFreeze);
  // The same multiplier for every seed walks through all places of the list, in another order each time around.
  let at = seed % differentEvents;
  const step = 7_919;
  let folded = 0;
  for (let log = 0; folded < events; log++) {
    const one = Array.from({ length: eventsPerLog }, () => {
      at = (at + step + log) % differentEvents;
      return drafts[at] ?? { type: "NobodyKnowsThis", data: {} };
    });
    total.check(subject, one);
    if (log % closerLook === 0) {
      bulk.check(subject, one);
      jsonClosed.check(subject, one);
    }
    folded += one.length;
  }
  const types = new Set(drafts.map(({ type }) => type)).size;
  process.stdout.write(
    `${folded.toLocaleString("en")} events of ${types} types through ${source.reducer.fields.length} reducers, none failed (seed ${seed})\n`,
  );
  expect(folded).toBe(events);
  expect(types).toBeGreaterThan(20);
});

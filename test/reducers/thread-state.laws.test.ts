import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { createEventRegistry } from "../../events/event-registry.ts";
import { builtInReducers, createThreadReducer } from "../../reducers/built-in.ts";
import { asRead } from "../../testing/arbitraries/event-drafts.ts";
import { lawsFor } from "../../testing/laws/all-laws.ts";
import type { Law } from "../../testing/laws/law.ts";
import { runLaw } from "../../testing/run-law.ts";
import { stateSubject } from "../../testing/subject-of.ts";
import { accepted, anyDraft, anyLog, reducer } from "./arbitrary-log.ts";

/** Two sources of events: those that follow from the schemas, and those in which ids and calls meet more often. */
const fromSchemas = stateSubject({
  reducer: createThreadReducer({ openFields: true }),
  registry: createEventRegistry(),
});
const meeting = {
  ...fromSchemas,
  reducer,
  drafts: anyDraft.map(({ type, data }) => ({ type, data: asRead(data) })),
};

/** Laws that make drafts of their own, or fold quadratically, get fewer logs. */
const runsOf: Readonly<Record<string, number>> = {
  "snapshot-cut": 40,
  "parallel-tools": 60,
  independent: 50,
};

function reasonOf(law: Law, subject: typeof fromSchemas): string | undefined {
  return runLaw(law, subject, { runs: runsOf[law.name] ?? 100, seed: fc.readConfigureGlobal().seed }).broken
    ?.reason;
}

describe("the fold of a thread", () => {
  const laws = lawsFor(fromSchemas).map((law) => [law.statement, law] as const);

  test.each(laws)("%s (events from schemas)", (_statement, law) => {
    expect(reasonOf(law, fromSchemas)).toBeUndefined();
  });

  test.each(laws)("%s (ids that meet)", (_statement, law) => {
    expect(reasonOf(law, meeting)).toBeUndefined();
  });

  test("gives the same when the last event comes again, or refuses it", () => {
    fc.assert(
      fc.property(anyLog, (events) => {
        const last = events.at(-1);
        if (!last) return;
        const state = reducer.fold(events);
        const again = accepted([last], state);
        if (again.length === 0) expect(last.type).toBe("MessagesRemoved");
        else expect(reducer.apply(state, last)).toEqual(state);
      }),
    );
  });
});

describe("updates of hooks", () => {
  test("that hand a field back as it is become no event", () => {
    fc.assert(
      fc.property(anyLog, (events) => {
        const state = reducer.fold(events);
        for (const { field, fromUpdate } of builtInReducers) {
          if (!fromUpdate || !Object.hasOwn(state, field)) continue;
          const copy: unknown = JSON.parse(JSON.stringify(state[field]));
          expect(fromUpdate(copy, state[field])).toEqual([]);
        }
      }),
    );
  });
});

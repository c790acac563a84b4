import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { z } from "zod";
import { defineEvent } from "../../events/define-event.ts";
import type { FoldEvent } from "../../events/envelope.ts";
import { createEventRegistry } from "../../events/event-registry.ts";
import { builtInReducers, createThreadReducer } from "../../reducers/built-in.ts";
import { defineReducer } from "../../reducers/define-reducer.ts";
import { composeReducers } from "../../reducers/thread-state.ts";
import { checkReducer, checkState, LawsBrokenError } from "../../testing/check-reducer.ts";
import { allLaws, UnknownLawError } from "../../testing/laws/all-laws.ts";
import { snapshotCut } from "../../testing/laws/snapshot-cut.ts";
import { NoEventsError, subjectOf, UndefinedEventError } from "../../testing/subject-of.ts";

const StepsPlanned = defineEvent({ type: "StepsPlanned", schema: z.object({ steps: z.array(z.string()) }) });
const events = [StepsPlanned];

const plan = defineReducer<readonly string[]>({
  field: "plan",
  initial: [],
  algebra: "replace",
  on: { StepsPlanned: (_plan: readonly string[], data: { steps: string[] }) => data.steps },
});

/** Keeps the first plan only, and so breaks its claim. */
const broken = defineReducer<readonly string[]>({
  ...plan,
  on: {
    StepsPlanned: (before: readonly string[], { steps }: { steps: string[] }) =>
      before.length > 0 ? before : steps,
  },
  algebra: "replace",
} as never);

function errorOf(work: () => unknown): Error {
  try {
    work();
  } catch (error) {
    return error as Error;
  }
  throw new Error("nothing was thrown");
}

describe("checkReducer", () => {
  test.each(builtInReducers.map((reducer) => [reducer.field, reducer] as const))(
    "%s keeps the laws of all reducers, those of its algebra, and what the original did",
    (_field, reducer) => {
      expect(checkReducer(reducer, { runs: 60 }).every(({ broken: found }) => found === undefined)).toBe(
        true,
      );
    },
  );

  test("a reducer of one's own with an event of one's own", () => {
    const laws = checkReducer(plan, { events, runs: 50 }).map(({ law }) => law.name);
    expect(laws).toContain("last-value-wins");
    expect(laws).toContain("snapshot-cut");
    expect(laws).not.toContain("grows-only");
  });

  test("a plain function is a reducer, too", () => {
    const count = {
      initial: 0,
      reduce: (value: number, { type }: FoldEvent) => (type === "StepsPlanned" ? value + 1 : value),
    };
    expect(checkReducer(count, { events, runs: 50 }).length).toBeGreaterThan(5);
  });

  test("a false claim is found; the message holds the events, the seed and the path", () => {
    const error = errorOf(() => checkReducer(broken, { events, seed: 11 }));
    expect(error).toBeInstanceOf(LawsBrokenError);
    expect(error.message).toContain('"plan" breaks the law last-value-wins');
    expect(error.message).toMatch(/"type":"StepsPlanned"/);
    expect(error.message).toMatch(
      /Repeat it with \{ laws: \["last-value-wins"\], seed: 11, path: "[\d:]+" \}/,
    );
  });

  test("`laws` checks those alone", () => {
    expect(checkReducer(broken, { events, laws: ["total", "pure"], runs: 20 })).toHaveLength(2);
    expect(() => checkReducer(plan, { events, laws: ["grows-only"] })).toThrow(UnknownLawError);
  });

  test("`runs` is the number of logs, and the same `seed` tries the same logs", () => {
    const [one] = checkReducer(plan, { events, laws: ["total"], runs: 7, seed: 3 });
    const [same] = checkReducer(plan, { events, laws: ["total"], runs: 7, seed: 3 });
    expect(one).toMatchObject({ runs: 7, seed: 3 });
    expect(same?.types).toEqual(one?.types);
    expect(same?.drafts).toBe(one?.drafts);
  });

  test("`noOps` are held", () => {
    const noOps = (_plan: readonly string[], { type }: FoldEvent) => type === "StepsPlanned";
    const error = errorOf(() => checkReducer(plan, { events, noOps }));
    expect(error.message).toContain("breaks the law no-ops");
    const unknown = (_plan: readonly string[], { type }: FoldEvent) => type === "NobodyKnowsThis";
    checkReducer(plan, { events, noOps: unknown, laws: ["no-ops"], runs: 30 });
  });

  test("`value` is what plain updates write", () => {
    const mood = defineReducer<unknown>({ field: "mood", initial: null, algebra: "last-write", on: {} });
    const [report] = checkReducer(mood, {
      value: z.enum(["good", "bad"]),
      laws: ["last-value-wins"],
      runs: 20,
    });
    expect(report?.types.get("StateUpdated")).toBeGreaterThan(0);
  });

  test("`strings` are used in events", () => {
    const seen: string[] = [];
    const watching = defineReducer<readonly string[]>({
      field: "plan",
      initial: [],
      on: {
        StepsPlanned(_plan: readonly string[], { steps }: { steps: string[] }) {
          seen.push(...steps);
          return steps;
        },
      },
    });
    checkReducer(watching, { events, laws: ["total"], strings: fc.constant("mine"), runs: 20 });
    expect(new Set(seen)).toEqual(new Set(["mine"]));
  });

  test("an event without a definition, and a reducer without events, are named", () => {
    expect(() => checkReducer(plan)).toThrow(UndefinedEventError);
    expect(() => checkReducer({ initial: 0, reduce: () => 0 })).toThrow(NoEventsError);
  });
});

describe("checkState", () => {
  const registry = createEventRegistry([{ source: "test", events }]);

  test("the built-in state keeps the laws of states", () => {
    const source = { reducer: createThreadReducer({ openFields: true }), registry };
    const laws = checkState(source, { laws: ["independent", "parallel-tools", "snapshot-cut"], runs: 40 });
    expect(laws.map(({ law }) => law.name)).toEqual(["independent", "parallel-tools", "snapshot-cut"]);
  });

  test("checks the whole and each field", () => {
    const reducer = composeReducers([{ source: "test", reducers: [plan] }]);
    const names = new Set(checkState({ reducer, registry }, { runs: 15 }).map(({ subject }) => subject.name));
    expect(names).toEqual(new Set(["state", "plan"]));
    const wrong = composeReducers([{ source: "test", reducers: [broken] }]);
    expect(() => checkState({ reducer: wrong, registry })).toThrow(LawsBrokenError);
  });
});

describe("laws", () => {
  test("each has a name of its own and a statement", () => {
    expect(new Set(allLaws.map(({ name }) => name)).size).toBe(allLaws.length);
    for (const { name, statement } of allLaws) {
      expect(name).toMatch(/^[a-z]+(-[a-z]+)*$/);
      expect(statement.length).toBeGreaterThan(20);
    }
  });

  test("can be used alone, on events that somebody wrote", () => {
    expect(() =>
      snapshotCut.check(subjectOf(plan, { events }), [StepsPlanned({ steps: ["read"] })]),
    ).not.toThrow();
  });
});

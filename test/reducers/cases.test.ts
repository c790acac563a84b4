import { describe, expect, test } from "vitest";
import type { FoldEvent } from "../../events/envelope.ts";
import { createEventRegistry } from "../../events/event-registry.ts";
import { deepFreeze } from "../../events/log/deep-freeze.ts";
import { createThreadReducer } from "../../reducers/built-in.ts";
import { FoldError, type State } from "../../reducers/thread-state.ts";
import type { ReducerCase } from "../cases/reducer-case.ts";
import { reducerCases } from "../cases/reducers.ts";

const reducer = createThreadReducer();
const registry = createEventRegistry();

function eventsOf({ field, before, update, events }: ReducerCase): FoldEvent[] {
  const drafts = events ?? reducer.definitions.get(field)?.fromUpdate?.(update, before ?? undefined) ?? [];
  for (const draft of drafts) registry.check(draft);
  return drafts.map((draft, index) => ({ ...draft, version: index + 1 }));
}

function run(given: ReducerCase): unknown {
  const { [given.field]: _, ...rest } = reducer.initial;
  const start: State = deepFreeze(given.before === null ? rest : { ...rest, [given.field]: given.before });
  const events = eventsOf(given);
  const oneByOne = events.reduce<State>(reducer.apply, start);
  expect(reducer.fold(events, start)).toEqual(oneByOne);
  return oneByOne[given.field];
}

function errorOf(given: ReducerCase): unknown {
  try {
    run(given);
  } catch (error) {
    return error instanceof FoldError ? error.cause : error;
  }
  return undefined;
}

describe("what a field holds after an update", () => {
  const folding = reducerCases.filter(({ error }) => error === undefined);
  test.each(folding)("$id: $title", (given) => {
    expect(run(given)).toEqual(given.after);
  });

  const refused = reducerCases.filter(({ error }) => error !== undefined);
  test.each(refused)("$id: $title", (given) => {
    expect(errorOf(given)).toMatchObject({ name: given.error });
  });

  test("CHN-02: a new thread has its lists and maps, and nothing else", () => {
    expect(reducer.initial).toEqual({
      messages: [],
      artifacts: [],
      viewed_images: {},
      delegations: [],
      skill_context: [],
    });
  });

  test("CHN-03: a jump is no part of the state", () => {
    const jump = { type: "JumpRequested", data: { to: "model" }, version: 1 };
    expect(reducer.apply(reducer.initial, jump)).toBe(reducer.initial);
  });
});

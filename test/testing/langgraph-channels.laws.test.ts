import { Annotation, BinaryOperatorAggregate } from "@langchain/langgraph";
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { ArtifactsPresented } from "../../events/artifacts.ts";
import type { EventDraft } from "../../events/define-event.ts";
import { ImagesCleared, ImagesViewed, type ViewedImage } from "../../events/images.ts";
import { deepFreeze } from "../../events/log/deep-freeze.ts";
import { ToolsPromoted } from "../../events/promoted-tools.ts";
import { SandboxBound } from "../../events/sandbox.ts";
import { TodosWritten } from "../../events/todos.ts";
import { createThreadReducer } from "../../reducers/built-in.ts";
import type { PromotedTools } from "../../reducers/promoted-tools.ts";
import { FoldError, type State } from "../../reducers/thread-state.ts";
import { arbitraryOf } from "../../testing/arbitraries/arbitrary-of.ts";
import { names } from "../../testing/arbitraries/hostile-strings.ts";
import { fieldModels } from "../../testing/reference/field-models.ts";
import { reducerCases } from "../cases/reducers.ts";

const reducer = createThreadReducer();

/** Writes of parallel nodes in one superstep, and supersteps one after the other. */
function supersteps<Update>(update: fc.Arbitrary<Update>): fc.Arbitrary<Update[][]> {
  return fc.array(fc.array(update, { minLength: 1, maxLength: 3 }), { maxLength: 6 });
}

/** Undefined: an event was refused. */
function folded(events: readonly EventDraft[]): State | undefined {
  let state: State = reducer.initial;
  try {
    for (const [at, { type, data }] of events.entries()) {
      state = deepFreeze(reducer.apply(state, deepFreeze({ type, data, version: at + 1 })));
    }
  } catch (error) {
    if (error instanceof FoldError) return undefined;
    throw error;
  }
  return state;
}

/** What a channel of LangGraph's holds after the same writes; undefined: it refused one. */
function channelled<Value, Update>(
  operator: (value: Value, update: Update) => Value,
  initial: () => Value,
  steps: readonly Update[][],
): { readonly value: Value } | undefined {
  const channel = new BinaryOperatorAggregate<Value, Update>(operator as never, initial);
  try {
    for (const writes of steps) channel.update(writes as never);
    return { value: channel.get() };
  } catch (error) {
    if (error instanceof Conflict) return undefined;
    throw error;
  }
}

class Conflict extends Error {}

describe("fields and LangGraph's channels with the original operators", () => {
  test("artifacts: the union in order", () => {
    const paths = fc.array(names(), { maxLength: 3 });
    const union = (value: string[], update: string[]) => [...new Set([...value, ...update])];
    fc.assert(
      fc.property(supersteps(paths), (steps) => {
        const ours = folded(steps.flat().map((update) => ArtifactsPresented({ paths: update })));
        expect(ours?.artifacts).toEqual(channelled(union, () => [], steps)?.value);
      }),
    );
  });

  test("viewed images: a merge by path, and the empty map that clears is an event of its own", () => {
    const image: fc.Arbitrary<ViewedImage> = fc.record(
      { mime_type: names(), size: fc.nat(9) },
      { noNullPrototype: true },
    );
    const images = fc
      .array(fc.tuple(names(), image), { maxLength: 2 })
      .map((entries) => Object.fromEntries(entries) as Record<string, ViewedImage>);
    const merge = (value: Record<string, ViewedImage>, update: Record<string, ViewedImage>) =>
      Object.keys(update).length === 0
        ? {}
        : Object.fromEntries([...Object.entries(value), ...Object.entries(update)]);
    fc.assert(
      fc.property(supersteps(images), (steps) => {
        const events = steps
          .flat()
          .map((update) =>
            Object.keys(update).length === 0 ? ImagesCleared({}) : ImagesViewed({ images: update }),
          );
        expect(folded(events)?.viewed_images).toEqual(channelled(merge, () => ({}), steps)?.value);
      }),
    );
  });

  test("promoted tools: names of one catalogue, a new catalogue starts anew", () => {
    const update = fc.record({
      catalogHash: fc.constantFrom("x", "y"),
      names: fc.array(names(), { maxLength: 3 }),
    });
    const promote = (
      value: PromotedTools | null,
      { catalogHash, names: added }: { catalogHash: string; names: string[] },
    ) => {
      const before = value?.catalog_hash === catalogHash ? value.names : [];
      return { catalog_hash: catalogHash, names: [...new Set([...before, ...added])] };
    };
    fc.assert(
      fc.property(supersteps(update), (steps) => {
        const ours = folded(steps.flat().map((one) => ToolsPromoted(one)));
        // A channel without a value keeps its first write as it is, and a fold always calls the reducer: null begins.
        const theirs = channelled<PromotedTools | null, (typeof steps)[number][number]>(
          promote,
          () => null,
          steps,
        );
        expect(ours?.promoted ?? null).toEqual(theirs?.value);
      }),
    );
  });

  test("sandbox: the same id again is nothing, another one is refused by both", () => {
    const update = fc.record({ sandbox_id: fc.constantFrom("s1", "s2") }, { noNullPrototype: true });
    const bind = (value: { sandbox_id: string } | null, offered: { sandbox_id: string }) => {
      if (value === null) return offered;
      if (value.sandbox_id !== offered.sandbox_id) throw new Conflict();
      return value;
    };
    fc.assert(
      fc.property(supersteps(update), (steps) => {
        const ours = folded(steps.flat().map((one) => SandboxBound(one)));
        const theirs = channelled(bind, () => null as never, steps);
        expect(ours === undefined).toBe(theirs === undefined);
        if (ours && theirs) expect(ours.sandbox ?? null).toEqual(theirs.value);
      }),
    );
  });

  test("todos: the last value, one write a step", () => {
    fc.assert(
      fc.property(fc.array(arbitraryOf(TodosWritten.schema), { minLength: 1, maxLength: 6 }), (writes) => {
        const channel = Annotation.Root({ todos: Annotation<readonly object[]>() }).spec.todos;
        for (const { todos } of writes) channel.update([todos]);
        expect(folded(writes.map((data) => TodosWritten(data)))?.todos).toEqual(channel.get());
      }),
    );
  });
});

describe("the models that built-in fields are held against", () => {
  const known = reducerCases.filter(
    ({ field, error }) => error === undefined && Object.hasOwn(fieldModels, field),
  );

  test.each(known)("say what the original does: $id: $title", ({ field, before, update, events, after }) => {
    const start = before === null ? reducer.initial[field] : before;
    const drafts = events ?? reducer.definitions.get(field)?.fromUpdate?.(update, before ?? undefined) ?? [];
    const model = fieldModels[field];
    const value = drafts.reduce<unknown>(
      (current, draft, at) => model?.(current, { ...draft, version: at + 1 } as never),
      start,
    );
    expect(value).toEqual(after);
  });

  test("there are cases for most of them", () => {
    expect(known.length).toBeGreaterThan(20);
  });
});

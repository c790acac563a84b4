import fc from "fast-check";
import { describe, expect, test } from "vitest";
import type { Json, JsonObject } from "../../../events/json.ts";
import { threadFromState } from "../../../projections/langgraph-import/import-thread-state.ts";
import { foldedValues } from "./values-of.ts";

const id = fc.constantFrom("a", "b", "c", "d", "e", "f", "g", "h");
const callId = fc.constantFrom("1", "2", "3");
const path = fc.constantFrom("/x", "/y", "/z");
const todos = fc.array(fc.record({ content: fc.string(), status: fc.constantFrom("pending", "completed") }), {
  maxLength: 2,
});
const call = fc.oneof(
  fc.record({ id: callId, name: fc.constant("ls"), args: fc.constant({}) }),
  fc.record({ id: callId, name: fc.constant("write_todos"), args: fc.record({ todos }) }),
  fc.record({
    id: callId,
    name: fc.constant("present_files"),
    args: fc.record({ filepaths: fc.array(path, { maxLength: 2 }) }),
  }),
);

const message = fc.oneof(
  fc.record({ id, type: fc.constantFrom("human", "system"), content: fc.string() }),
  fc.record({
    id,
    type: fc.constant("ai"),
    content: fc.string(),
    tool_calls: fc.array(call, { maxLength: 3 }),
  }),
  fc.record({
    id,
    type: fc.constant("tool"),
    content: fc.string(),
    tool_call_id: callId,
    status: fc.constantFrom("success", "error"),
  }),
);

const values = fc.record(
  {
    messages: fc.array(message, { maxLength: 12 }),
    title: fc.option(fc.string()),
    todos: fc.option(todos),
    artifacts: fc.array(path, { maxLength: 4 }),
    sandbox: fc.option(fc.record({ sandbox_id: fc.option(fc.string()) })),
    viewed_images: fc.dictionary(path, fc.record({ mime_type: fc.string() })),
    other: fc.jsonValue(),
  },
  { requiredKeys: ["messages"] },
);

/** JSON has one text for each value, so `-0` and the like do not come out of files. */
const asJson = <Value>(value: Value) => JSON.parse(JSON.stringify(value)) as Value & JsonObject;

describe("importing a thread state", () => {
  test("folds to its values, whatever the order of its messages", () => {
    fc.assert(
      fc.property(values, fc.constantFrom([], ["model"]), (generated, next) => {
        const given = asJson(generated);
        const thread = threadFromState({ values: given, next, metadata: { thread_id: "t" } });
        const expected = Object.fromEntries(Object.entries(given));
        expect(foldedValues(thread, given)).toEqual(expected);
      }),
    );
  });

  test("of a history ends with the values of its newest state", () => {
    fc.assert(
      fc.property(fc.array(values, { minLength: 2, maxLength: 4 }), (states) => {
        const document = states.map((state, step) => ({
          values: asJson(state),
          created_at: `2026-01-01T00:00:0${step}Z`,
          metadata: { thread_id: "t" },
        }));
        const last = document.at(-1)?.values as unknown as JsonObject;
        const { messages, ...fields } = foldedValues(threadFromState(document as unknown as Json), last);
        expect(messages).toEqual(last.messages);
        for (const [field, value] of Object.entries(last))
          if (field !== "messages") expect(fields[field]).toEqual(value);
      }),
    );
  });
});

import fc from "fast-check";
import type { AnyEventDefinition, EventDraft } from "../../events/define-event.ts";
import type { Json } from "../../events/json.ts";
import { messageSchema } from "../../events/message.ts";
import { storableJson } from "../../events/storable-json.ts";
import { type ArbitraryOptions, arbitraryOf } from "./arbitrary-of.ts";
import { hostileStrings, names } from "./hostile-strings.ts";

const id = names().filter((text) => text !== "");
const callId = fc.constantFrom("c0", "c1", "c2");
const content = fc.oneof(
  { weight: 4, arbitrary: fc.oneof(fc.constantFrom("x", "y"), hostileStrings()) },
  {
    weight: 1,
    arbitrary: fc.array(fc.record({ type: fc.constant("text"), text: names() }), { maxLength: 2 }),
  },
);
const toolCall = fc.record({ id: callId, name: names(), args: fc.constant({}) });

/** Messages whose ids and call ids meet: people's, models' with and without calls, and tools'. */
export const anyMessage: fc.Arbitrary<object> = fc.oneof(
  fc.record({ id, type: fc.constantFrom("human", "ai", "system"), content }),
  fc.record({ id, type: fc.constant("ai"), content, tool_calls: fc.array(toolCall, { maxLength: 3 }) }),
  fc.record({ id, type: fc.constant("tool"), content, tool_call_id: callId }),
);

/** Messages are more than their schema says: which ids meet decides what a list does. */
const ownValues: ReadonlyMap<unknown, fc.Arbitrary<unknown>> = new Map([
  [messageSchema() as unknown, anyMessage],
]);

/** Data as it comes out of a log: in the form that every store gives back, made of plain objects only. */
export function asRead(data: unknown): Json {
  return JSON.parse(JSON.stringify(storableJson(data))) as Json;
}

/**
 * Drafts of one event as a log would hold them: made from its schema, in the form that every store gives back.
 *
 * @example
 * fc.sample(draftsOf(TodosWritten), 1); // [{ type: "TodosWritten", data: { todos: [] } }]
 */
export function draftsOf(
  definition: AnyEventDefinition,
  options: ArbitraryOptions = {},
): fc.Arbitrary<EventDraft> {
  const overrides = new Map([...ownValues, ...(options.overrides ?? [])]);
  const { type } = definition;
  return arbitraryOf(definition.schema, { ...options, overrides }).map((data) => ({
    type,
    data: asRead(data),
  }));
}

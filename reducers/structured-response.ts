import type { Json } from "../events/json.ts";
import { StructuredResponseProduced } from "../events/structured-response.ts";
import { defineReducer } from "./define-reducer.ts";
import { keepWhenSame, sameJson } from "./same-json.ts";

type JsonValue = ReturnType<typeof StructuredResponseProduced>["data"]["value"];

/** The answer in the form that the caller asked for. The last one wins. */
export const structuredResponse = defineReducer<Json | undefined>({
  field: "structured_response",
  initial: undefined,
  algebra: "replace",
  on: { StructuredResponseProduced: (current, data) => keepWhenSame<Json | undefined>(current, data.value) },
  fromUpdate: (update, current) =>
    update === undefined || sameJson(update, current)
      ? []
      : [StructuredResponseProduced({ value: update as JsonValue })],
});

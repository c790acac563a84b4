import type { Json, JsonObject } from "../../../events/json.ts";
import type { ThreadFromState } from "../../../projections/langgraph-import/import-thread-state.ts";
import { effectiveEvents } from "../../../projections/lineage.ts";
import { createThreadReducer } from "../../../reducers/built-in.ts";

/** The folded state, without the fields that hold nothing yet and that `values` does not have either. */
export function foldedValues({ events }: ThreadFromState, values: JsonObject): JsonObject {
  const state = createThreadReducer({ openFields: true }).fold(effectiveEvents([...events])) as JsonObject;
  return Object.fromEntries(
    Object.entries(state).filter(([field, value]) => Object.hasOwn(values, field) || !isEmpty(value)),
  );
}

function isEmpty(value: Json): boolean {
  return typeof value === "object" && value !== null && Object.keys(value).length === 0;
}

import { NotJsonError } from "../../events/canonical-json.ts";
import type { Json } from "../../events/json.ts";
import { storableJson } from "../../events/storable-json.ts";

/**
 * JSON form of a value that foreign code made: plain data as it is, anything else as `JSON.stringify` has it, and what
 * has no JSON form as null. Metadata of providers holds class instances now and then, which must not cost the answer.
 */
export function plainJson(value: unknown): Json {
  try {
    return storableJson(value);
  } catch (error) {
    if (!(error instanceof NotJsonError)) throw error;
    try {
      return storableJson(JSON.parse(JSON.stringify(value) ?? "null"));
    } catch {
      return null;
    }
  }
}

import type { Delta } from "jsondiffpatch";
import { format, type Op } from "jsondiffpatch/formatters/jsonpatch";
import type { StateDelta } from "./diff.ts";

/** One operation of RFC 6902. */
export type PatchOperation = Op;

/**
 * A difference as JSON Patch (RFC 6902): applied to the first state it gives the second.
 *
 * @example
 * toJsonPatch(diffStates(before, after)); // [{ op: "replace", path: "/title", value: "Final" }]
 */
export function toJsonPatch(delta: StateDelta): PatchOperation[] {
  return delta === undefined ? [] : format(delta as Delta);
}

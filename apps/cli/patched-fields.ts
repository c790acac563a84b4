import type { State } from "../../reducers/thread-state.ts";
import { readInput } from "./read-input.ts";
import { UsageError } from "./usage-error.ts";

/** New values by field. */
export type ThreadEdit = Readonly<Record<string, unknown>>;

/**
 * Fields of a state that a JSON Patch file changes, with their new values.
 *
 * @throws {UsageError} @throws {FileNotFoundError}
 */
export async function patchedFields(file: string, state: State): Promise<ThreadEdit> {
  const { patch } = await import("jsondiffpatch/formatters/jsonpatch");
  const { changedNames } = await import("../../projections/diff.ts");
  const text = await readInput(file);
  const edited = structuredClone(state) as Record<string, unknown>;
  try {
    const operations: unknown = JSON.parse(text);
    if (!Array.isArray(operations)) throw new Error("it is no list of operations");
    patch(edited, operations as Parameters<typeof patch>[1]);
  } catch (cause) {
    throw new UsageError(
      `The patch ${file} does not apply. ${(cause as Error).message}. Write RFC 6902, like [{"op":"replace","path":"/title","value":"New"}].`,
      { cause },
    );
  }
  return Object.fromEntries(changedNames(state, edited).map((field) => [field, edited[field] ?? null]));
}

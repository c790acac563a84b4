import type { EventDraft } from "../../events/define-event.ts";
import type { Emitter } from "../../events/envelope.ts";
import type { Message } from "../../events/message.ts";
import { StateUpdated } from "../../events/state-update.ts";
import { storableJson } from "../../events/storable-json.ts";
import type { AnyReducerDefinition } from "../../reducers/define-reducer.ts";
import { messagePosition } from "../../reducers/message-list.ts";
import { removeAllMessages } from "../../reducers/message-update.ts";
import { sameJson } from "../../reducers/same-json.ts";
import type { State } from "../../reducers/thread-state.ts";
import type { Assembly } from "../assembly.ts";
import { overwriteValue } from "../langgraph-values.ts";
import { toStoredList } from "../messages/to-stored.ts";
import { withoutMarkers } from "../middleware/hidden-message.ts";
import { mintId } from "../mint-id.ts";
import type { AttributedDraft } from "./step-contract.ts";

/** An update names a field that nobody declares. */
export class UnknownFieldError extends Error {
  override readonly name = "UnknownFieldError";
  constructor(
    readonly field: string,
    readonly by: Emitter,
    /** The hook that gave the update, where it was one. */
    readonly hook: string | undefined,
    readonly known: readonly string[],
  ) {
    super(
      `${hook ? `${hook} of ` : ""}${by} updates the field "${field}", which nobody declares. Declare it in a stateSchema, or use one of: ${known.join(", ")}.`,
    );
  }
}

/** The value for a field does not fit what its owner declared. Nothing was written. */
export class InvalidUpdateError extends Error {
  override readonly name = "InvalidUpdateError";
  constructor(
    readonly field: string,
    readonly by: Emitter,
    readonly reasons: readonly string[],
  ) {
    super(
      `The update of "${field}" by ${by} is not valid: ${reasons.join("; ")}. The state stays as it is; mend the value or the field's schema.`,
    );
  }
}

/** An update by field: an object, or LangGraph's list of pairs. */
export type FieldUpdate = Readonly<Record<string, unknown>> | readonly (readonly [string, unknown])[];

export interface UpdateOptions {
  /** Values take the place of what the fields hold, past their reducers: an edit from outside. */
  readonly replace?: boolean;
  /** The update comes from a client: its messages lose the markers that only middlewares set. */
  readonly fromOutside?: boolean;
  /** Hook or function that gave the update, for messages. */
  readonly hook?: string;
}

/**
 * Turns a plain update into events of the fields it names, and of no others. What is in the state already gives none.
 *
 * @throws {UnknownFieldError} @throws {InvalidUpdateError}
 * @example
 * updateToDrafts({ plan: "read first" }, state, assembly, "middleware:planner");
 */
export function updateToDrafts(
  update: FieldUpdate,
  state: State,
  assembly: Assembly,
  by: Emitter,
  options: UpdateOptions = {},
): AttributedDraft[] {
  const entries: readonly (readonly [string, unknown])[] = Array.isArray(update)
    ? update
    : Object.entries(update);
  return entries.flatMap(([field, value]) => {
    if (value === undefined) return [];
    const definition = assembly.reducer.definitions.get(field);
    if (!definition) throw new UnknownFieldError(field, by, options.hook, assembly.reducer.fields);
    try {
      return draftsFor(definition, value, state, assembly, by, options).map((draft) => ({ draft, by }));
    } catch (error) {
      if (error instanceof InvalidUpdateError) throw error;
      throw new InvalidUpdateError(field, by, [error instanceof Error ? error.message : String(error)]);
    }
  });
}

function draftsFor(
  definition: AnyReducerDefinition,
  given: unknown,
  state: State,
  assembly: Assembly,
  by: Emitter,
  options: UpdateOptions,
): readonly EventDraft[] {
  const { field, initial, fromUpdate, merge } = definition;
  const overwrite = overwriteValue(given);
  const replace = options.replace === true || overwrite !== undefined;
  const value = overwrite ? overwrite.value : given;
  const current = Object.hasOwn(state, field) ? state[field] : initial;
  if (field === "messages") {
    const list = toStoredList(value, mintId);
    const held = current as readonly Message[];
    return messageDrafts(definition, options.fromOutside ? asFromOutside(list, held) : list, held, replace);
  }
  checkValue(field, value, assembly, by, replace ? "whole" : "schema");
  if (replace)
    return sameJson(value, current) ? [] : [StateUpdated({ field, value: stored(value), replace })];
  if (fromUpdate) return fromUpdate(value, current);
  if (!merge && sameJson(value, current)) return [];
  return [StateUpdated({ field, value: stored(value) })];
}

/** Messages without the markers of middlewares, but for those that the thread holds with them and a client sends back. */
function asFromOutside(messages: readonly Message[], current: readonly Message[]): readonly Message[] {
  return messages.map((message) => {
    const clean = withoutMarkers(message);
    if (clean === message) return message;
    const held = current[messagePosition(current, message.id) ?? -1];
    return held && withoutMarkers(held) !== held ? message : clean;
  });
}

function messageDrafts(
  definition: AnyReducerDefinition,
  list: readonly Message[],
  current: readonly Message[],
  replace: boolean,
): readonly EventDraft[] {
  const clear: Message = { type: "remove", id: removeAllMessages, content: "" };
  return definition.fromUpdate?.(replace ? [clear, ...list] : list, current) ?? [];
}

function checkValue(
  field: string,
  value: unknown,
  assembly: Assembly,
  by: Emitter,
  kind: "schema" | "whole",
): void {
  const result = assembly.fieldSchemas.get(field)?.[kind].safeParse(value);
  if (!result || result.success) return;
  const reasons = result.error.issues.map(({ path, message }) =>
    path.length > 0 ? `${path.join(".")}: ${message}` : message,
  );
  throw new InvalidUpdateError(field, by, reasons);
}

type StoredValue = ReturnType<typeof StateUpdated>["data"]["value"];

function stored(value: unknown): StoredValue {
  return storableJson(value) as StoredValue;
}

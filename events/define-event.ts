import type { z } from "zod";
import type { Json } from "./json.ts";
import { lazySchema, type Zod } from "./zod.ts";

const draftBrand = Symbol.for("threadfold.event-draft");

/** A fact that has not been recorded yet: what hooks, tools and models hand to the runtime. */
export interface EventDraft<Type extends string = string, Data = unknown> {
  readonly type: Type;
  readonly data: Data;
}

/** Turns the data of schema version `n` into the data of version `n + 1`. Pure: no clock, no random, no I/O. */
export type Upcaster = (data: Json) => Json;

/** What an event may carry, which version of that shape is current, and how older shapes become it. */
export interface EventDefinition<Type extends string = string, Data = unknown> {
  (data: Data): EventDraft<Type, Data>;
  readonly type: Type;
  readonly schema: z.ZodType<Data>;
  /** Current schema version, counted from 1. */
  readonly version: number;
  /** `upcasters[n]` turns data of version `n` into version `n + 1`. */
  readonly upcasters: Readonly<Record<number, Upcaster>>;
  /** Dot paths of the fields that hold content (encrypted when a thread has a key). Empty: the event holds none. */
  readonly content: readonly string[];
}

/** An event definition whatever its data. */
// biome-ignore lint/suspicious/noExplicitAny: definitions of all data types stand in one list
export type AnyEventDefinition = EventDefinition<string, any>;

/** The data type of an event definition. */
export type DataOf<Definition> = Definition extends EventDefinition<string, infer Data> ? Data : never;

/** Thrown when an event is defined badly: wrong name, or a chain of upcasters with a hole. */
export class EventDefinitionError extends Error {
  override readonly name = "EventDefinitionError";
}

const pastTensePascalCase = /^[A-Z][A-Za-z0-9]*$/;

/**
 * Defines an event: its past-tense PascalCase name, the zod schema of its data and the schema's version.
 * The result is called to make a draft. Schemas check and never transform: what is checked is what is stored.
 * A schema may be a function of zod's builders: it is called when the first such event is checked.
 *
 * @throws {EventDefinitionError} when the name is not PascalCase or an upcaster is missing.
 * @example
 * const PlanWritten = defineEvent({ type: "PlanWritten", schema: z.object({ plan: z.string() }) });
 * PlanWritten({ plan: "read, then write" }); // { type: "PlanWritten", data: { plan: … } }
 */
export function defineEvent<Type extends string, Data>(options: {
  type: Type;
  schema: z.ZodType<Data> | ((z: Zod) => z.ZodType<Data>);
  version?: number;
  upcasters?: Record<number, Upcaster>;
  content?: readonly string[];
}): EventDefinition<Type, Data> {
  const { type, schema, version = 1, upcasters = {}, content = [] } = options;
  if (!pastTensePascalCase.test(type)) {
    throw new EventDefinitionError(
      `Event name "${type}" is not PascalCase. Name the fact in the past tense, like "TodosWritten".`,
    );
  }
  if (!Number.isInteger(version) || version < 1) {
    throw new EventDefinitionError(
      `Event "${type}" has schema version ${version}. Versions are whole numbers from 1.`,
    );
  }
  for (let from = 1; from < version; from++) {
    if (!upcasters[from]) {
      throw new EventDefinitionError(
        `Event "${type}" is at schema version ${version} but has no upcaster from ${from} to ${from + 1}. Add upcasters[${from}].`,
      );
    }
  }
  const create = (data: Data): EventDraft<Type, Data> => {
    const draft = { type, data };
    Object.defineProperty(draft, draftBrand, { value: true });
    return draft;
  };
  const schemaOf = typeof schema === "function" ? lazySchema(schema) : () => schema;
  const definition = Object.assign(create, { type, version, upcasters, content });
  return Object.defineProperty(definition, "schema", {
    get: schemaOf,
    enumerable: true,
  }) as typeof definition & {
    readonly schema: z.ZodType<Data>;
  };
}

/** True for what an event definition returned, so that hooks may mix drafts with plain update objects. */
export function isEventDraft(value: unknown): value is EventDraft {
  return typeof value === "object" && value !== null && draftBrand in value;
}

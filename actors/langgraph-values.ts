import type { z } from "zod";

/** A zod schema as far as assembly reads it. */
export type AnySchema = Pick<z.ZodType, "safeParse">;

/** A state field with a reducer, declared with LangGraph's means. */
export interface ReducedField {
  readonly value: AnySchema;
  readonly input: AnySchema;
  /** Source of the reducer: snapshots that another one made are left unused. */
  readonly text: string;
  merge(current: unknown, update: unknown): unknown;
}

/**
 * LangGraph's registry of reducers for zod fields (`schemaMetaRegistry` of `@langchain/langgraph/zod`). It lives in
 * LangGraph's module, which this package does not load, so its users hand it over.
 */
export interface SchemaRegistry {
  get(schema: never): { readonly reducer?: { readonly fn: unknown; readonly schema?: unknown } } | undefined;
}

const stateSchemaMark = Symbol.for("langgraph.state.state_schema");
const reducedMark = Symbol.for("langgraph.state.reduced_value");
const deltaMark = Symbol.for("langgraph.state.delta_value");
const untrackedMark = Symbol.for("langgraph.state.untracked_value");

const has = (value: unknown, key: PropertyKey): value is Record<PropertyKey, unknown> =>
  typeof value === "object" && value !== null && key in value;

export function isSchema(value: unknown): value is AnySchema {
  return has(value, "safeParse") && typeof value.safeParse === "function";
}

/** Fields of a zod object or of LangGraph's `StateSchema`; undefined for anything else. */
export function fieldsOf(schema: unknown): Readonly<Record<string, unknown>> | undefined {
  if (has(schema, stateSchemaMark) && has(schema.fields, "constructor")) return schema.fields;
  if (!isSchema(schema)) return undefined;
  const { shape } = schema as { shape?: unknown };
  return typeof shape === "object" && shape !== null ? (shape as Record<string, unknown>) : undefined;
}

/** True for fields that LangGraph never stores. */
export function isUntracked(value: unknown): boolean {
  return has(value, untrackedMark);
}

/** True for a zod field that LangGraph knows a reducer for. */
export function isMarkedReduced(value: unknown): boolean {
  return has(value, "lg_reducer_schema");
}

/** The reducer of a field that was declared with `ReducedValue`, `DeltaValue` or `withLangGraph`; or undefined. */
export function reducedField(value: unknown, registry: SchemaRegistry | undefined): ReducedField | undefined {
  if (has(value, reducedMark) || has(value, deltaMark)) {
    const { valueSchema, inputSchema, reducer } = value as unknown as {
      valueSchema: AnySchema;
      inputSchema: AnySchema;
      reducer: (current: unknown, update: unknown) => unknown;
    };
    const inBatches = has(value, deltaMark);
    return {
      value: valueSchema,
      input: inputSchema,
      text: String(reducer),
      merge: (current, update) => reducer(current, inBatches ? [update] : update),
    };
  }
  const meta = isSchema(value) ? registry?.get(value as never) : undefined;
  if (!meta?.reducer || !isSchema(value)) return undefined;
  const merge = meta.reducer.fn as (current: unknown, update: unknown) => unknown;
  const input = isSchema(meta.reducer.schema) ? meta.reducer.schema : value;
  return { value, input, text: String(merge), merge };
}

/** The value inside LangGraph's `Overwrite`, which goes past a field's reducer; undefined for anything else. */
export function overwriteValue(value: unknown): { readonly value: unknown } | undefined {
  if (!has(value, "constructor") || Array.isArray(value)) return undefined;
  if (value.lg_name === "Overwrite") return { value: value.value };
  const keys = Object.keys(value);
  return keys.length === 1 && keys[0] === "__overwrite__" ? { value: value.__overwrite__ } : undefined;
}

import { z } from "zod";
import type { EventRegistry } from "../events/event-registry.ts";
import { builtInReducers } from "../reducers/built-in.ts";
import { type AnyReducerDefinition, defineReducer } from "../reducers/define-reducer.ts";
import { AssemblyError, type FieldSchema } from "./assembly.ts";
import {
  type AnySchema,
  fieldsOf,
  isMarkedReduced,
  isSchema,
  isUntracked,
  type ReducedField,
  reducedField,
  type SchemaRegistry,
} from "./langgraph-values.ts";
import { deepFreeze } from "./messages/deep-freeze.ts";
import { plainJson } from "./messages/plain-json.ts";
import type { FieldReducer, MiddlewareOptions } from "./middleware/define-middleware.ts";

/** Who declares fields: a middleware, or the agent with its own `stateSchema`. */
export type FieldSource = Pick<MiddlewareOptions<unknown, unknown>, "reducers"> & {
  readonly stateSchema?: unknown;
};

/** The fields that one source declares. */
export interface DeclaredFields {
  readonly source: string;
  readonly reducers: readonly AnyReducerDefinition[];
  readonly schemas: ReadonlyMap<string, FieldSchema>;
}

const builtIn = new Map(builtInReducers.map((definition) => [definition.field, definition]));
const steering = new Set(["jump_to", "jumpTo", "goto"]);
const unsafe = new Set(["__proto__", "constructor", "prototype"]);

function checkFieldName(field: string, source: string): void {
  if (steering.has(field)) {
    throw new AssemblyError(
      source,
      `"${field}" steers the run and is never part of the state`,
      "Return jumpTo from a hook, and give the field another name.",
    );
  }
  if (field === "" || field.startsWith("$") || unsafe.has(field)) {
    throw new AssemblyError(source, `"${field}" cannot be the name of a field`, "Give it another name.");
  }
}

/** One declaration object is one reducer, wherever it is used: so that two middlewares may share it. */
const byDeclaration = new WeakMap<object, Map<string, AnyReducerDefinition>>();

function shared(declaration: object, field: string, make: () => AnyReducerDefinition): AnyReducerDefinition {
  const known = byDeclaration.get(declaration) ?? new Map<string, AnyReducerDefinition>();
  byDeclaration.set(declaration, known);
  const definition = known.get(field) ?? make();
  known.set(field, definition);
  return definition;
}

function reducerFor(field: string, declaration: FieldReducer, source: string): AnyReducerDefinition {
  if ("field" in declaration) {
    if (declaration.field === field) return declaration;
    throw new AssemblyError(
      source,
      `the reducer under "${field}" is one of the field "${declaration.field}"`,
      "Use the same name in both places.",
    );
  }
  return shared(declaration, field, () =>
    defineReducer<unknown>({ field, initial: declaration.initial, on: declaration.on as never }),
  );
}

function ownReducers(from: FieldSource, source: string): AnyReducerDefinition[] {
  const { reducers = {} } = from;
  if (Array.isArray(reducers)) return [...reducers];
  return Object.entries(reducers).map(([field, declaration]) => reducerFor(field, declaration, source));
}

function initialOf(schema: AnySchema): unknown {
  const parsed = schema.safeParse(undefined);
  return parsed.success && parsed.data !== undefined ? deepFreeze(plainJson(parsed.data)) : undefined;
}

function lastValue(field: string, schema: AnySchema): AnyReducerDefinition {
  return defineReducer<unknown>({ field, initial: initialOf(schema), on: {}, algebra: "last-write" });
}

function merged(field: string, reduced: ReducedField): AnyReducerDefinition {
  // LangGraph's rule: a first value is kept as it is.
  const merge = (current: unknown, update: unknown) =>
    current === undefined ? update : reduced.merge(current, update);
  Object.defineProperty(merge, "toString", { value: () => reduced.text });
  return defineReducer<unknown>({ field, initial: initialOf(reduced.value), on: {}, merge });
}

/**
 * The reducers and schemas of the fields that a middleware (or the agent) declares.
 *
 * @throws {AssemblyError} for a schema that is no object, and for names and kinds of fields that cannot be stored
 */
export function declaredFields(
  from: FieldSource,
  source: string,
  registry: SchemaRegistry | undefined,
): DeclaredFields {
  const reducers = new Map(ownReducers(from, source).map((definition) => [definition.field, definition]));
  const schemas = new Map<string, FieldSchema>();
  for (const [field, declaration] of Object.entries(stateFields(from.stateSchema, source))) {
    checkFieldName(field, source);
    if (isUntracked(declaration)) {
      throw new AssemblyError(
        source,
        `the field "${field}" is an UntrackedValue, and every field of the state is stored`,
        "Put what must not be stored into the contextSchema.",
      );
    }
    const reduced = reducedField(declaration, registry);
    if (!reduced && !isSchema(declaration)) {
      throw new AssemblyError(source, `the field "${field}" has no schema`, "Declare it with zod.");
    }
    if (!reduced && isMarkedReduced(declaration)) {
      throw new AssemblyError(
        source,
        `the field "${field}" has a reducer that only LangGraph's registry knows`,
        'Pass `schemaRegistry: schemaMetaRegistry` (from "@langchain/langgraph/zod"), or declare it with ReducedValue or `reducers`.',
      );
    }
    const schema = reduced?.input ?? (declaration as AnySchema);
    const whole = reduced?.value ?? schema;
    if (field !== "messages") schemas.set(field, { schema, whole, source });
    if (reducers.has(field)) continue;
    const make = () => (reduced ? merged(field, reduced) : lastValue(field, schema));
    reducers.set(field, builtIn.get(field) ?? shared(declaration as object, field, make));
  }
  for (const field of reducers.keys()) checkFieldName(field, source);
  return { source, reducers: [...reducers.values()], schemas };
}

function stateFields(schema: unknown, source: string): Readonly<Record<string, unknown>> {
  if (schema === undefined) return {};
  const fields = fieldsOf(schema);
  if (fields) return fields;
  throw new AssemblyError(
    source,
    "its stateSchema is not an object schema",
    "Give z.object({ … }): one key a field.",
  );
}

function schemaText(schema: FieldSchema["schema"]): string | undefined {
  try {
    return JSON.stringify(z.toJSONSchema(schema as z.ZodType, { unrepresentable: "any", io: "input" }));
  } catch {
    return undefined;
  }
}

/**
 * Lets sources that declare a plain field in the same words share one declaration, as they would share one object.
 * What differs is left as it is, for the conflict to be found.
 */
export function unifyPlainFields(parts: readonly DeclaredFields[]): DeclaredFields[] {
  const first = new Map<string, { text: string; definition: AnyReducerDefinition }>();
  return parts.map((part) => {
    const reducers = part.reducers.map((definition) => {
      const declared = part.schemas.get(definition.field);
      const isPlain = Object.keys(definition.on).length === 0 && !definition.merge && !definition.fromUpdate;
      const text = declared && isPlain ? schemaText(declared.schema) : undefined;
      if (text === undefined) return definition;
      const before = first.get(definition.field);
      if (!before) first.set(definition.field, { text, definition });
      return before?.text === text ? before.definition : definition;
    });
    return { ...part, reducers };
  });
}

/**
 * Checks that every event that a reducer folds is defined by somebody.
 * @throws {AssemblyError}
 */
export function checkHandledEvents(parts: readonly DeclaredFields[], registry: EventRegistry): void {
  for (const { source, reducers } of parts) {
    for (const { field, on } of reducers) {
      const missing = Object.keys(on).find((type) => !registry.get(type));
      if (missing === undefined) continue;
      throw new AssemblyError(
        source,
        `the field "${field}" folds the event ${missing}, which nobody defines`,
        "Add it to `events`, or mend its name.",
      );
    }
  }
}

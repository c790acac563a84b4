import { catalogue } from "./catalogue.ts";
import type { AnyEventDefinition, EventDefinition, EventDraft } from "./define-event.ts";
import type { Json } from "./json.ts";

/** An event's data does not fit its schema. Nothing was written. */
export class InvalidEventError extends Error {
  override readonly name = "InvalidEventError";
  constructor(
    readonly type: string,
    /** One line for each problem: path and reason. */
    readonly issues: readonly string[],
  ) {
    super(
      `Event ${type} is not valid: ${issues.join("; ")}. Nothing was written; mend the data or the event's schema.`,
    );
  }
}

/** An event was recorded with a schema version that this code does not know yet. */
export class NewerSchemaError extends Error {
  override readonly name = "NewerSchemaError";
  constructor(
    readonly type: string,
    readonly recorded: number,
    readonly known: number,
  ) {
    super(
      `Event ${type} was recorded with schema version ${recorded}; this version knows up to ${known}. ` +
        "The log was written by a newer version: upgrade threadfold (or the package that defines the event) to read it.",
    );
  }
}

/** Two different definitions share one event name. */
export class EventConflictError extends Error {
  override readonly name = "EventConflictError";
  constructor(
    readonly type: string,
    readonly sources: readonly [string, string],
  ) {
    super(
      `Event ${type} is defined twice, by ${sources[0]} and by ${sources[1]}. Rename one, or share one definition.`,
    );
  }
}

/** All events that a log reader or an agent knows. */
export interface EventRegistry {
  readonly types: readonly string[];
  get(type: string): EventDefinition | undefined;
  /**
   * Checks a draft against its schema.
   * @throws {InvalidEventError}
   */
  check(draft: EventDraft): EventDefinition;
  /**
   * Brings data of an older schema version up to date. Unknown types come back as they are.
   * @throws {NewerSchemaError}
   */
  upcast(type: string, data: Json, schema: number): Json;
}

/**
 * Collects event definitions: the catalogue, plus those of middlewares.
 *
 * @param added definitions with the name of who brings them, for messages
 * @throws {EventConflictError}
 * @example
 * createEventRegistry([{ source: "middleware planner", events: [PlanWritten] }])
 */
export function createEventRegistry(
  added: readonly { source: string; events: readonly AnyEventDefinition[] }[] = [],
): EventRegistry {
  const known = new Map<string, { definition: EventDefinition; source: string }>();
  const add = (definition: AnyEventDefinition, source: string) => {
    const before = known.get(definition.type);
    if (before && before.definition !== definition)
      throw new EventConflictError(definition.type, [before.source, source]);
    known.set(definition.type, { definition, source });
  };
  for (const definition of Object.values(catalogue)) add(definition, "threadfold");
  for (const { source, events } of added) for (const definition of events) add(definition, source);

  return {
    types: [...known.keys()],
    get: (type) => known.get(type)?.definition,
    check(draft) {
      const definition = known.get(draft.type)?.definition;
      if (!definition) {
        throw new InvalidEventError(draft.type, [
          "no event of this name is defined; add it to the `events` of a middleware",
        ]);
      }
      const result = definition.schema.safeParse(draft.data);
      if (!result.success) {
        throw new InvalidEventError(
          draft.type,
          result.error.issues.map((issue) => `${issue.path.join(".") || "data"}: ${issue.message}`),
        );
      }
      return definition;
    },
    upcast(type, data, schema) {
      const definition = known.get(type)?.definition;
      if (!definition || schema === definition.version) return data;
      if (schema > definition.version) throw new NewerSchemaError(type, schema, definition.version);
      let current = data;
      for (let version = schema; version < definition.version; version++) {
        const upcast = definition.upcasters[version];
        if (upcast) current = upcast(current);
      }
      return current;
    },
  };
}

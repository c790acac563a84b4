import { isDeepStrictEqual } from "node:util";
import fc from "fast-check";
import type { z } from "zod";
import type { AnyEventDefinition } from "../events/define-event.ts";
import type { Json } from "../events/json.ts";
import { deepFreeze } from "../events/log/deep-freeze.ts";
import { type ArbitraryOptions, arbitraryOf } from "./arbitraries/arbitrary-of.ts";
import { asRead } from "./arbitraries/event-drafts.ts";

export interface UpcasterOptions extends ArbitraryOptions {
  /** The schemas of the versions before, by version: their values are what old logs hold. */
  readonly from: Readonly<Record<number, z.ZodType>>;
  /** What data of version 1 says in today's form, written down independently of the upcasters. */
  readonly becomes?: (data: never, version: number) => unknown;
  /** Values to try for each version. Default 200. */
  readonly runs?: number;
  readonly seed?: number;
}

/** Data of an old log does not become data of today. */
export class UpcastBrokenError extends Error {
  override readonly name = "UpcastBrokenError";
  constructor(
    readonly type: string,
    readonly version: number,
    /** The smallest old data that shows it. */
    readonly data: unknown,
    reason: string,
  ) {
    super(
      `${type} of schema version ${version} is not upcast well: ${reason}. Old data: ${JSON.stringify(data)}.`,
    );
  }
}

/**
 * Holds the upcasters of an event to their laws on generated old data: what comes out fits today's schema, the old data
 * stays as it is, twice gives the same, and it says what `becomes` says.
 *
 * @throws {UpcastBrokenError}
 * @example
 * checkUpcasters(PlanWritten, { from: { 1: z.object({ text: z.string() }) }, becomes: ({ text }) => ({ steps: [text] }) });
 */
export function checkUpcasters(definition: AnyEventDefinition, options: UpcasterOptions): void {
  const { from, becomes, runs = 200, seed } = options;
  for (const [name, schema] of Object.entries(from)) {
    const version = Number(name);
    const holds = (old: Json): string | undefined => {
      try {
        const now = upcast(definition, version, old);
        const fit = definition.schema.safeParse(now);
        if (!fit.success) return `it became ${JSON.stringify(now)}, which does not fit today's schema`;
        if (!isDeepStrictEqual(now, upcast(definition, version, old)))
          return "it becomes something else each time";
        const meant = becomes?.(old as never, version);
        if (!becomes || isDeepStrictEqual(now, meant)) return undefined;
        return `it became ${JSON.stringify(now)} in place of ${JSON.stringify(meant)}`;
      } catch (error) {
        return `it threw ${error}`;
      }
    };
    const values = arbitraryOf(schema, options).map((data) => deepFreeze(asRead(data)));
    const outcome = fc.check(
      fc.property(values, (old) => holds(old) === undefined),
      { numRuns: runs, ...(seed === undefined ? {} : { seed }) },
    );
    const [smallest = null] = outcome.counterexample ?? [];
    if (outcome.failed)
      throw new UpcastBrokenError(definition.type, version, smallest, holds(smallest) ?? "once only");
  }
}

function upcast(definition: AnyEventDefinition, from: number, data: Json): Json {
  let current = data;
  for (let version = from; version < definition.version; version++) {
    current = definition.upcasters[version]?.(current) ?? current;
  }
  return current;
}

import type { Session } from "./session.ts";

/** One thing that was looked at. */
export interface Finding {
  readonly check: string;
  /** `note`: it is fine without, but good to know. */
  readonly status: "ok" | "note" | "problem";
  readonly detail: string;
  readonly next?: string;
}

/** Events that are looked at unless all are asked for. */
const defaultEvents = 100_000;

/** Which events of the store this agent does not know, does not fold, or knows in an older schema only. */
export async function schemaFindings(session: Session, all: boolean): Promise<Finding[]> {
  const { readEventTypes } = await import("../../projections/event-types.ts");
  const { log } = await session.store();
  const reading = await session.reading();
  const { types, events, cut } = await readEventTypes(log, reading, all ? {} : { limit: defaultEvents });
  const folding = await middlewaresByEvent();
  // Without an agent a thread is read with the fields that its runs had.
  const hasAgent = (await session.settings()).agent.value !== undefined;
  const findings: Finding[] = [];
  for (const { type, count, by, schema, knownSchema, folded } of types) {
    const what = `${type}: ${count} ${count === 1 ? "event" : "events"} by ${by.join(", ")}`;
    const owner = folding.get(type) ?? by.find((one) => one.startsWith("middleware:"))?.slice(11);
    if (knownSchema === undefined) {
      findings.push({
        check: "events",
        status: "note",
        detail: `${what} are kept and skipped: no event of this name is defined`,
        next:
          owner === undefined
            ? "name the agent that defines it, with --config or the config file"
            : `the middleware ${owner} would fold them: add it to the agent`,
      });
    } else if (schema > knownSchema) {
      findings.push({
        check: "events",
        status: "problem",
        detail: `${what} have schema version ${schema}, and this version knows up to ${knownSchema}: their threads are refused`,
        next: "upgrade threadfold, or the package that defines the event",
      });
    } else if (hasAgent && !folded && folding.has(type)) {
      findings.push({
        check: "events",
        status: "note",
        detail: `${what} change no field of this agent`,
        next: `the middleware ${owner} would fold them`,
      });
    }
  }
  if (findings.length > 0) return findings;
  const looked = `${events}${cut ? " (of more; --events looks at all)" : ""} events, all types known`;
  return [{ check: "events", status: "ok", detail: looked }];
}

/** Built-in middlewares that bring a reducer for an event, by event. */
async function middlewaresByEvent(): Promise<ReadonlyMap<string, string>> {
  const { harnessMiddleware } = await import("../../actors/harness.ts");
  const { foldedTypes } = await import("../../projections/fields-at.ts");
  const { assemble } = await import("../../actors/assemble.ts");
  const base = new Set(foldedTypes(assemble({ model: "builtin:planner" }).reducer));
  const owners = new Map<string, string>();
  for (const middleware of harnessMiddleware({ viewImages: { vision: true } })) {
    const { reducer } = assemble({ model: "builtin:planner", middleware: [middleware] });
    for (const type of foldedTypes(reducer)) {
      if (!base.has(type) && !owners.has(type)) owners.set(type, middleware.name);
    }
  }
  return owners;
}

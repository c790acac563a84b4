import type { z } from "zod";
import type { Assembly } from "../assembly.ts";
import { deepFreeze } from "../messages/deep-freeze.ts";

type Context = Readonly<Record<string, unknown>>;
type ContextSchema = z.ZodObject<z.ZodRawShape>;

/** The run's context does not fit a `contextSchema`. Nothing ran. */
export class ContextError extends Error {
  override readonly name = "ContextError";
  constructor(
    /** `middleware planner` or `the agent`. */
    readonly source: string,
    readonly issues: readonly string[],
  ) {
    super(
      `The run's context does not fit the contextSchema of ${source}: ${issues.join("; ")}. Pass it as \`context\` when the run starts.`,
    );
  }
}

const parsed = new WeakMap<Context, Map<ContextSchema, Context>>();
const nothing: Context = Object.freeze({});

/**
 * What one reader sees of the run's context: the keys of its own schema, checked, frozen. Checked once a run.
 *
 * @throws {ContextError}
 */
export function contextFor(schema: ContextSchema | undefined, source: string, context: Context): Context {
  if (!schema) return nothing;
  const known = parsed.get(context)?.get(schema);
  if (known) return known;
  const own = Object.fromEntries(
    Object.keys(schema.shape).flatMap((key) => (Object.hasOwn(context, key) ? [[key, context[key]]] : [])),
  );
  const result = schema.safeParse(own);
  if (!result.success) {
    const issues = result.error.issues.map(
      ({ path, message }) => `${path.join(".") || "context"}: ${message}`,
    );
    throw new ContextError(source, issues);
  }
  const value = deepFreeze(result.data);
  parsed.set(context, (parsed.get(context) ?? new Map()).set(schema, value));
  return value;
}

/** What the agent's own tools see: the keys of the agent's schema, or without one everything that was given. */
export function agentContext(assembly: Assembly, context: Context): Context {
  if (!assembly.contextSchema) return Object.freeze({ ...context });
  return contextFor(assembly.contextSchema, "the agent", context);
}

/**
 * Checks a run's context against all schemas of an agent, before anything runs.
 *
 * @throws {ContextError}
 * @example
 * checkContext(assembly, { userId: "u1" });
 */
export function checkContext(assembly: Assembly, context: Context): void {
  agentContext(assembly, context);
  for (const { name, contextSchema } of assembly.middleware) {
    contextFor(contextSchema, `middleware ${name}`, context);
  }
}

import type { JumpTarget } from "../middleware/define-middleware.ts";

/** A hook wants to jump where it may not. */
export class InvalidJumpError extends Error {
  override readonly name = "InvalidJumpError";
  constructor(
    /** `middleware:planner`, `tool:search` */
    readonly by: string,
    readonly hook: string,
    readonly to: unknown,
    readonly allowed: readonly JumpTarget[],
  ) {
    const may = allowed.length > 0 ? `it may jump to ${allowed.join(", ")}` : "it declares no jumps";
    super(
      `${hook} of ${by} wants to jump to ${JSON.stringify(to)}, and ${may}. Declare it: { hook, canJumpTo: ["model" | "tools" | "end"] }.`,
    );
  }
}

/** Names of LangGraph's nodes for our phases. */
const targets: Readonly<Record<string, JumpTarget>> = {
  model: "model",
  model_request: "model",
  agent: "model",
  tools: "tools",
  end: "end",
  __end__: "end",
};

/**
 * Where a jump leads; undefined: there is none. `to` may be a list of one.
 * @throws {InvalidJumpError}
 */
export function jumpTarget(
  to: unknown,
  from: { readonly by: string; readonly hook: string; readonly allowed: readonly JumpTarget[] },
): JumpTarget | undefined {
  const [name, ...more] = Array.isArray(to) ? to : [to];
  if (name === undefined || name === null) return undefined;
  const target = typeof name === "string" && Object.hasOwn(targets, name) ? targets[name] : undefined;
  if (target === undefined || more.length > 0 || !from.allowed.includes(target)) {
    throw new InvalidJumpError(from.by, from.hook, to, from.allowed);
  }
  return target;
}

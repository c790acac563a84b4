import type { HookRuntime, Middleware } from "../middleware/define-middleware.ts";
import { contextFor } from "./run-context.ts";
import type { StepContext } from "./step-contract.ts";

/** What a hook or tool knows about where it runs, with the context that is meant for it. */
export function runtimeFor(ctx: StepContext, context: Readonly<Record<string, unknown>>): HookRuntime {
  const { threadId, runId, step, version, configurable, signal, blobs, folder, run } = ctx;
  return Object.freeze({
    threadId,
    runId,
    step,
    version,
    context,
    configurable: Object.freeze({ thread_id: threadId, run_id: runId, ...configurable }),
    signal,
    blobs,
    folder,
    run,
    writer: (data) => ctx.publish({ kind: "custom", data }),
  } satisfies HookRuntime);
}

/** @throws {ContextError} */
export function middlewareRuntime(ctx: StepContext, middleware: Middleware): HookRuntime {
  const { name, contextSchema } = middleware;
  return runtimeFor(ctx, contextFor(contextSchema, `middleware ${name}`, ctx.context));
}

import { JumpRequested } from "../../events/run.ts";
import type { InterruptRequest } from "../interrupt.ts";
import type { HookFunction, JumpTarget, Middleware } from "../middleware/define-middleware.ts";
import { type DraftFold, foldDrafts } from "./fold-drafts.ts";
import { HookError } from "./hook-error.ts";
import { type ReadHookResult, readHookResult } from "./hook-result.ts";
import { middlewareRuntime } from "./hook-runtime.ts";
import { hookState } from "./hook-state.ts";
import { InvalidJumpError, jumpTarget } from "./jumps.ts";
import { recordedAnswers } from "./recorded-answers.ts";
import { ContextError } from "./run-context.ts";
import type { AttributedDraft, HookPhase, HookStepOutcome, StepContext } from "./step-contract.ts";
import { InvalidUpdateError, UnknownFieldError, updateToDrafts } from "./updates.ts";

interface Ready {
  readonly middleware: Middleware;
  readonly run: HookFunction<unknown, unknown>;
  readonly canJumpTo: readonly JumpTarget[];
}

/** Errors that name the middleware already. */
const namedErrors = [HookError, UnknownFieldError, InvalidUpdateError, InvalidJumpError, ContextError];

function ready(middleware: Middleware, name: HookPhase | "release"): Ready[] {
  const hook = middleware[name];
  if (hook === undefined) return [];
  if (typeof hook === "function") return [{ middleware, run: hook, canJumpTo: [] }];
  return [{ middleware, run: hook.hook, canJumpTo: hook.canJumpTo ?? [] }];
}

async function runOne(
  { middleware, run, canJumpTo }: Ready,
  name: HookPhase | "release",
  ctx: StepContext,
  fold: DraftFold,
): Promise<{ jumpTo: JumpTarget | undefined; interrupts: readonly InterruptRequest[] }> {
  const by = `middleware:${middleware.name}` as const;
  try {
    const runtime = middlewareRuntime(ctx, middleware);
    const recorded = middleware.external ? recordedAnswers() : undefined;
    const given = recorded
      ? recorded.hook(middleware.name, name)
      : await run(hookState(fold.state) as never, runtime);
    const result: ReadHookResult = readHookResult(given);
    const jumpTo = jumpTarget(result.jumpTo, { by, hook: name, allowed: canJumpTo });
    await fold.add(result.events.map((draft) => ({ draft, by })));
    if (result.update) {
      await fold.add(updateToDrafts(result.update, fold.state, ctx.assembly, by, { hook: name }));
    }
    if (jumpTo !== undefined) await fold.add([{ draft: JumpRequested({ to: jumpTo }), by }]);
    return { jumpTo, interrupts: result.interrupts };
  } catch (error) {
    if (namedErrors.some((kind) => error instanceof kind)) throw error;
    throw new HookError(middleware.name, name, error);
  }
}

/**
 * Runs the hooks of one phase: `before*` in list order, `after*` in reverse. Each sees the state after the events of
 * those before it. The first jump ends the phase. Nothing is appended here.
 *
 * @throws {HookError} a hook threw, or gave what cannot be recorded
 * @throws {UnknownFieldError} @throws {InvalidUpdateError} @throws {InvalidJumpError}
 * @example
 * const { drafts, state, jumpTo } = await runHooks("beforeModel", ctx);
 */
export async function runHooks(phase: HookPhase, ctx: StepContext): Promise<HookStepOutcome> {
  const hooks = ctx.assembly.middleware.flatMap((middleware) => ready(middleware, phase));
  if (phase === "afterModel" || phase === "afterAgent") hooks.reverse();
  const fold = foldDrafts(ctx);
  const interrupts: InterruptRequest[] = [];
  let jumpTo: JumpTarget | undefined;
  for (const hook of hooks) {
    const outcome = await runOne(hook, phase, ctx, fold);
    interrupts.push(...outcome.interrupts);
    jumpTo = outcome.jumpTo;
    if (jumpTo !== undefined) break;
  }
  return { drafts: fold.drafts, state: fold.state, jumpTo, interrupts };
}

/** Some middlewares could not give back what they had acquired. All of them were asked. */
export class ReleaseError extends Error {
  override readonly name = "ReleaseError";
  constructor(
    /** What those that succeeded want recorded. */
    readonly drafts: readonly AttributedDraft[],
    readonly errors: readonly Error[],
  ) {
    super(
      `Something was not released at the end of the run: ${errors.map(({ message }) => message).join("; ")}`,
    );
  }
}

/**
 * Runs every middleware's `release`, in reverse list order, whatever the others do.
 *
 * @returns what they want recorded
 * @throws {ReleaseError} after all of them ran; it carries the drafts of those that succeeded
 */
export async function releaseHooks(ctx: StepContext): Promise<readonly AttributedDraft[]> {
  const hooks = ctx.assembly.middleware.flatMap((middleware) => ready(middleware, "release")).reverse();
  const fold = foldDrafts(ctx);
  const errors: Error[] = [];
  for (const hook of hooks) {
    try {
      await runOne(hook, "release", ctx, fold);
    } catch (error) {
      errors.push(error as Error);
    }
  }
  if (errors.length > 0) throw new ReleaseError(fold.drafts, errors);
  return fold.drafts;
}

import type { Delegation } from "../../events/delegations.ts";
import { RunCapped } from "../../events/run.ts";
import { taskName } from "../tools/task.ts";
import { createMiddleware, type RunFacts } from "./define-middleware.ts";
import { callsOf, lastAnswer } from "./last-answer.ts";
import { trimToolCalls } from "./trim-tool-calls.ts";

export interface SubagentLimitOptions {
  /** Sub-agents at once, 1 to 4. Default 3. */
  readonly maxConcurrent?: number;
  /** Sub-agents in one run, 1 to 50. Default 6. */
  readonly maxTotal?: number;
}

const reason = "subagent_limit_capped";

function clamp(value: number, lowest: number, highest: number): number {
  return Math.min(highest, Math.max(lowest, Math.trunc(value)));
}

/** The limits in force: what is out of range is brought into it. */
export function subagentLimits(options: SubagentLimitOptions = {}): Required<SubagentLimitOptions> {
  const { maxConcurrent = 3, maxTotal = 6 } = options;
  return { maxConcurrent: clamp(maxConcurrent, 1, 4), maxTotal: clamp(maxTotal, 1, 50) };
}

/** Delegations of this run, those before an interrupt of it included. */
function countUsed(delegations: readonly Delegation[], runId: string, run: RunFacts): number {
  const listed = delegations.filter((entry) => entry.run_id === runId).length;
  return Math.max(listed, run.eventCounts.DelegationsRecorded ?? 0);
}

/**
 * Bounds sub-agents: surplus `task` calls are taken out of the answer before any of them runs. When a run has used up
 * its total and nothing else is left to do, it ends and says so.
 *
 * @example
 * createAgent({ model, middleware: [subagentLimitMiddleware({ maxTotal: 10 })] })
 */
export function subagentLimitMiddleware(options: SubagentLimitOptions = {}) {
  const { maxConcurrent, maxTotal } = subagentLimits(options);
  return createMiddleware<{ readonly delegations?: readonly Delegation[] }>({
    name: "subagent-limit",
    afterModel(state, { run, runId }) {
      const answer = lastAnswer(state.messages);
      if (!answer) return undefined;
      const calls = callsOf(answer);
      const tasks = calls.filter((call) => call.name === taskName);
      const left = Math.max(0, maxTotal - countUsed(state.delegations ?? [], runId, run));
      const allowed = Math.min(maxConcurrent, left);
      if (tasks.length <= allowed) return undefined;
      const surplus = new Set(tasks.slice(allowed));
      const kept = calls.filter((call) => !surplus.has(call));
      const capped = left < maxConcurrent && left < tasks.length;
      const trimmed = trimToolCalls(answer, kept, {
        ...(capped && kept.length === 0
          ? { notice: `The limit of ${maxTotal} sub-agents in one run is reached.`, stopReason: reason }
          : {}),
      });
      return {
        events: capped ? [RunCapped({ runId, reason })] : [],
        update: { messages: [trimmed] },
      };
    },
  });
}

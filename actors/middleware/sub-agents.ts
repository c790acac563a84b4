import { z } from "zod";
import { DelegationsRecorded } from "../../events/delegations.ts";
import { delegations } from "../../reducers/delegations.ts";
import { type TaskToolOptions, taskTool } from "../tools/task.ts";
import { createMiddleware } from "./define-middleware.ts";

/**
 * Sub-agents: the tool `task` and the ledger `delegations`. Put `subagentLimitMiddleware` behind it.
 *
 * @example
 * const runChild = childAgents({ agents: { researcher } });
 * createAgent({ model, middleware: [subAgentsMiddleware({ agents: { researcher: { description: "…" } }, runChild })] });
 */
export function subAgentsMiddleware(options: TaskToolOptions) {
  return createMiddleware({
    name: "sub-agents",
    // Children get the whole context of the run.
    contextSchema: z.looseObject({}),
    tools: [taskTool(options)],
    events: [DelegationsRecorded],
    reducers: [delegations],
  });
}

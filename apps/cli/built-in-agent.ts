import type { Agent, AgentOptions } from "../../actors/agent-contract.ts";
import { createAgent } from "../../actors/create-agent.ts";
import type { Store } from "../../events/store.ts";

/** The agent of `threadfold run`: the harness, with files and a shell in the thread's own folders. */
export function createBuiltInAgent(options: {
  readonly store: Store;
  readonly model: string;
  readonly limits: NonNullable<AgentOptions["limits"]>;
  /** Other than `all`: commands of the shell wait for a decision. */
  readonly approve: "ask" | "all" | "none";
  /** It goes on with the runs of workers that died. */
  readonly worker?: { readonly leaseMs: number };
}): Agent {
  const { store, model, limits, approve, worker } = options;
  return createAgent({
    name: "threadfold",
    model,
    store,
    limits,
    preset: "harness",
    ...(worker && { recovery: "continue" as const, ...worker }),
    harness: {
      ...(approve !== "all" && { humanApproval: { interruptOn: { bash: true } } }),
      // Rules do not do more when they are reminded.
      ...(model.startsWith("builtin:") && { todos: { maxReminders: 0 } }),
    },
  });
}

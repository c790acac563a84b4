import { resolve } from "node:path";
import type { Agent, AgentOptions } from "../../actors/agent-contract.ts";
import type { Store } from "../../events/store.ts";
import type { Session } from "./session.ts";

/** What a command line says about its agent. */
export interface AgentFlags {
  readonly model?: string;
  /** File that exports the agent. */
  readonly agent?: string;
  /** `ask`: commands of the shell wait for a human. */
  readonly approve?: "ask" | "all" | "none";
  readonly limits?: AgentOptions["limits"];
  /** Finds out before a run begins whether there is such a model. */
  readonly checkModel?: true;
  /** The agent takes over runs of other processes, unless its file says otherwise. */
  readonly worker?: { readonly leaseMs: number };
}

/** The agent of a call: that of `--agent` or the config file, else the built-in one. Closed when the command ends. */
export async function openAgent(session: Session, flags: AgentFlags = {}): Promise<Agent> {
  const agent = await agentOn(session, await session.store(), flags);
  session.onEnd(() => agent.close());
  return agent;
}

/** The same agent on another store. Whoever asks closes it. */
export async function agentOn(session: Session, store: Store, flags: AgentFlags): Promise<Agent> {
  const settings = await session.settings();
  const file = flags.agent === undefined ? settings.agent.value : resolve(flags.agent);
  const limits = flags.limits ?? {};
  if (file !== undefined) {
    const model = flags.model ?? (settings.model.from === "default" ? undefined : settings.model.value);
    const { loadAgent } = await import("./load-agent.ts");
    return loadAgent(file, {
      store,
      limits,
      ...(model !== undefined && { model }),
      ...(flags.worker && { worker: flags.worker }),
    });
  }
  const { createBuiltInAgent } = await import("./built-in-agent.ts");
  const model = flags.model ?? settings.model.value;
  if (flags.checkModel) await checkModel(model);
  const { worker, approve = "all" } = flags;
  return createBuiltInAgent({ store, model, limits, approve, ...(worker && { worker }) });
}

/** @throws {UnknownModelError} @throws {MissingProviderError} @throws {MissingKeyError} */
async function checkModel(model: string): Promise<void> {
  // A recording is read once, by the run itself.
  if (model.startsWith("replay:")) return;
  const { resolveModel } = await import("../../actors/models/resolve-model.ts");
  await resolveModel(model);
}

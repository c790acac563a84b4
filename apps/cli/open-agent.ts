import { resolve } from "node:path";
import type { Agent, AgentOptions } from "../../actors/agent-contract.ts";
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
}

/** The agent of a call: that of `--agent` or the config file, else the built-in one. Closed when the command ends. */
export async function openAgent(session: Session, flags: AgentFlags = {}): Promise<Agent> {
  const settings = await session.settings();
  const store = await session.store();
  const file = flags.agent === undefined ? settings.agent.value : resolve(flags.agent);
  const limits = flags.limits ?? {};
  let agent: Agent;
  if (file !== undefined) {
    const model = flags.model ?? (settings.model.from === "default" ? undefined : settings.model.value);
    const { loadAgent } = await import("./load-agent.ts");
    agent = await loadAgent(file, { store, limits, ...(model !== undefined && { model }) });
  } else {
    const { createBuiltInAgent } = await import("./built-in-agent.ts");
    const model = flags.model ?? settings.model.value;
    if (flags.checkModel) await checkModel(model);
    agent = createBuiltInAgent({ store, model, limits, approve: flags.approve ?? "all" });
  }
  session.onEnd(() => agent.close());
  return agent;
}

/** @throws {UnknownModelError} @throws {MissingProviderError} @throws {MissingKeyError} */
async function checkModel(model: string): Promise<void> {
  // A recording is read once, by the run itself.
  if (model.startsWith("replay:")) return;
  const { resolveModel } = await import("../../actors/models/resolve-model.ts");
  await resolveModel(model);
}

import type { Agent } from "./agent-contract.ts";
import type { ThreadRegistry } from "./registry.ts";
import type { Environment } from "./run-scope.ts";

/** What the rest of the runtime needs of an agent, and nobody else. */
export interface AgentInternals {
  readonly threads: ThreadRegistry;
  environment(): Promise<Environment>;
}

const internals = new WeakMap<Agent, AgentInternals>();

export function keepInternals(agent: Agent, kept: AgentInternals): Agent {
  internals.set(agent, kept);
  return agent;
}

/** An object that looks like an agent was not made by `createAgent`. */
export class ForeignAgentError extends Error {
  override readonly name = "ForeignAgentError";
  constructor(readonly agent: string) {
    super(`Agent ${agent} was not made by createAgent, or is a copy. Pass what createAgent returned.`);
  }
}

/** @throws {ForeignAgentError} */
export function internalsOf(agent: Agent): AgentInternals {
  const found = internals.get(agent);
  if (!found) throw new ForeignAgentError(agent.name);
  return found;
}

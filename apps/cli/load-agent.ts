import { existsSync } from "node:fs";
import { pathToFileURL } from "node:url";
import type { Agent, AgentOptions } from "../../actors/agent-contract.ts";
import type { Store } from "../../events/store.ts";
import { FileNotFoundError } from "./usage-error.ts";

/** A file exports no agent. */
export class AgentFileError extends Error {
  override readonly name = "AgentFileError";
  constructor(
    readonly path: string,
    reason: string,
    options?: ErrorOptions,
  ) {
    super(
      `The agent file ${path} cannot be used. ${reason}. Export by default the options of createAgent, or a function that is given { store, model } and makes an agent.`,
      options,
    );
  }
}

/** What the command line decides for an agent. */
export interface AgentSettings {
  readonly store: Store;
  /** Name of a model; undefined: the agent's own. */
  readonly model?: string;
  readonly limits?: AgentOptions["limits"];
  /** It goes on with the runs of workers that died, unless the file says otherwise. */
  readonly worker?: { readonly leaseMs: number };
}

function isAgent(value: unknown): value is Agent {
  return (
    typeof value === "object" && value !== null && "thread" in value && typeof value.thread === "function"
  );
}

function isOptions(value: unknown): value is AgentOptions {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

/**
 * Loads the agent that a TypeScript or JavaScript file exports by default: options of `createAgent`, or a function that
 * makes the agent for a store. An agent that is exported ready-made keeps its own store and model. What a TypeScript
 * file imports from `threadfold` is the running package, whichever copy stands beside it.
 *
 * @throws {FileNotFoundError} @throws {AgentFileError} @throws {AssemblyError}
 */
export async function loadAgent(path: string, settings: AgentSettings): Promise<Agent> {
  if (!existsSync(path)) throw new FileNotFoundError(path);
  const { createAgent } = await import("../../actors/create-agent.ts");
  let exported: unknown;
  try {
    const { createJiti } = await import("jiti");
    // A second copy of the package, beside the file, would define every event a second time.
    const virtualModules = { threadfold: await import("../../index.ts") };
    const jiti = createJiti(import.meta.url, { virtualModules });
    exported = await jiti.import(pathToFileURL(path).href, { default: true });
    if (typeof exported === "function")
      exported = await exported({ store: settings.store, model: settings.model });
  } catch (cause) {
    const message = cause instanceof Error ? (cause.message.split("\n")[0] ?? "") : String(cause);
    throw new AgentFileError(path, `It fails with: ${message.replace(/\.$/, "")}`, { cause });
  }
  if (isAgent(exported)) return exported;
  if (!isOptions(exported)) throw new AgentFileError(path, "Its default export is no agent");
  const { store, model, limits } = settings;
  const chosen = model ?? exported.model;
  if (chosen === undefined) throw new AgentFileError(path, "It names no model, and --model is not given");
  return createAgent({
    ...(settings.worker && { recovery: "continue", ...settings.worker }),
    ...exported,
    store,
    model: chosen,
    limits: { ...exported.limits, ...limits },
  });
}

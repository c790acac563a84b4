import type { BaseChatModel } from "@langchain/core/language_models/chat_models";
import type { Store } from "../../events/store.ts";
import { loadFromProvider, providers } from "./providers.ts";
import { loadReplayModel } from "./replay/load-replay-model.ts";

/** A text names no model. */
export class UnknownModelError extends Error {
  override readonly name = "UnknownModelError";
  constructor(
    readonly spec: string,
    why: string,
  ) {
    super(
      `"${spec}" names no model: ${why}. Write builtin:planner, replay:<file or thread>, or ${Object.keys(
        providers,
      )
        .map((name) => `${name}:<model>`)
        .join(", ")}.`,
    );
  }
}

export interface ResolveModelOptions {
  /** Where `replay:<thread>` finds its thread. */
  readonly store?: Store;
}

/**
 * The chat model that a name or an instance means.
 *
 * - a LangChain chat model is given back as it is
 * - `openai:<model>`, `anthropic:<model>`, `ollama:<model>`, `google-genai:<model>` through LangChain's packages;
 *   `OPENAI_BASE_URL` names another server that speaks OpenAI's protocol
 * - `builtin:planner` is a model made of rules
 * - `replay:<file or thread>` answers from recorded model calls
 *
 * @throws {UnknownModelError} @throws {MissingProviderError} @throws {MissingKeyError}
 * @throws {ReplaySourceError} there is nothing to replay at that place
 * @example
 * const model = await resolveModel("openai:gpt-5-mini");
 */
export async function resolveModel(
  spec: BaseChatModel | string,
  options: ResolveModelOptions = {},
): Promise<BaseChatModel> {
  if (typeof spec !== "string") return checkModel(spec);
  const [, scheme, name] = /^([a-z][a-z0-9-]*):(.+)$/s.exec(spec) ?? [];
  if (!scheme || !name) throw new UnknownModelError(spec, "it is not of the form <provider>:<name>");
  if (scheme === "builtin") {
    if (name !== "planner") throw new UnknownModelError(spec, `there is no built-in model "${name}"`);
    const { PlannerModel } = await import("./planner/planner-model.ts");
    return new PlannerModel();
  }
  if (scheme === "replay") {
    return loadReplayModel(name, options.store);
  }
  const provider = Object.hasOwn(providers, scheme) ? providers[scheme] : undefined;
  if (!provider) throw new UnknownModelError(spec, `the provider "${scheme}" is not known`);
  return loadFromProvider(scheme, provider, name);
}

/** @throws {UnknownModelError} neither a text nor a chat model: JavaScript lets anything through */
function checkModel(spec: BaseChatModel): BaseChatModel {
  const { invoke, getName } = (spec ?? {}) as { readonly invoke?: unknown; readonly getName?: unknown };
  if (typeof invoke === "function" && typeof getName === "function") return spec;
  throw new UnknownModelError(
    spec === undefined ? "undefined" : JSON.stringify(spec),
    "it is neither a text nor a chat model of LangChain",
  );
}

/**
 * The name of a model as `ModelCallStarted` records it: the text that named it, or the model's own name.
 *
 * @example
 * modelNameOf(new ChatOpenAI({ model: "gpt-5-mini" })); // "gpt-5-mini"
 */
export function modelNameOf(spec: BaseChatModel | string): string {
  if (typeof spec === "string") return spec;
  checkModel(spec);
  const { model, modelName } = spec as { model?: unknown; modelName?: unknown };
  const own = [model, modelName].find((name) => typeof name === "string" && name !== "");
  return typeof own === "string" ? own : spec.getName();
}

import type { BaseChatModel } from "@langchain/core/language_models/chat_models";
import { createEventRegistry } from "../events/event-registry.ts";
import type { Store } from "../events/store.ts";
import { baseReducers } from "../reducers/built-in.ts";
import { composeReducers } from "../reducers/thread-state.ts";
import type { AgentOptions } from "./agent-contract.ts";
import {
  checkHandledEvents,
  type DeclaredFields,
  declaredFields,
  unifyPlainFields,
} from "./assemble-fields.ts";
import { type Assembly, AssemblyError } from "./assembly.ts";
import { fieldsOf } from "./langgraph-values.ts";
import type { Hook, JumpTarget, Middleware } from "./middleware/define-middleware.ts";
import { structuredResponseMiddleware } from "./middleware/structured-response.ts";
import { modelNameOf, resolveModel } from "./models/resolve-model.ts";
import type { AgentTool } from "./tools/define-tool.ts";

/** What assembly reads of an agent's options. */
export type AssemblyOptions = Pick<
  AgentOptions,
  | "name"
  | "model"
  | "tools"
  | "systemPrompt"
  | "middleware"
  | "stateSchema"
  | "contextSchema"
  | "schemaRegistry"
  | "responseFormat"
>;

/**
 * Puts an agent together from its options: the base fields ⊕ what the agent and each middleware declare.
 *
 * @param store opens the agent's store, where a model named `replay:<thread>` finds its thread
 * @throws {AssemblyError} @throws {FieldConflictError} @throws {EventConflictError}
 * @example
 * const assembly = assemble({ model, tools: [add], middleware: [todosMiddleware()] });
 * assembly.reducer.fields; // ["messages", …, "todos"]
 */
export function assemble(options: AssemblyOptions, store?: () => Promise<Store>): Assembly {
  const { name = "agent", model, systemPrompt, responseFormat, contextSchema, schemaRegistry } = options;
  const middleware = [...(options.middleware ?? [])];
  // Last in the list is nearest to the model: it acts on the response format that the others leave in the request.
  if (responseFormat !== undefined) middleware.push(structuredResponseMiddleware(responseFormat));
  middleware.forEach(checkMiddleware);
  checkUniqueNames(middleware);
  checkContextSchema(contextSchema, "the agent");

  const registry = createEventRegistry(
    middleware.map(({ name: by, events = [] }) => ({ source: `middleware ${by}`, events })),
  );
  const declared = unifyPlainFields([
    declaredFields({ stateSchema: options.stateSchema }, "the agent", schemaRegistry),
    ...middleware.map((part) => declaredFields(part, `middleware ${part.name}`, schemaRegistry)),
  ]);
  checkHandledEvents(declared, registry);
  const base: DeclaredFields = { source: "threadfold", reducers: baseReducers, schemas: new Map() };
  return {
    name,
    middleware,
    tools: collectTools(options.tools ?? [], middleware),
    reducer: composeReducers([base, ...declared]),
    registry,
    fieldSchemas: new Map(declared.flatMap(({ schemas }) => [...schemas])),
    contextSchema,
    systemPrompt,
    responseFormat,
    modelName: modelNameOf(model),
    model: onceResolved(model, store),
  };
}

const hookNames = ["beforeAgent", "beforeModel", "afterModel", "afterAgent"] as const;
const wrapNames = ["wrapModelCall", "wrapToolCall", "release"] as const;
const jumpTargets = new Set<unknown>(["model", "tools", "end"] satisfies JumpTarget[]);

function checkMiddleware(middleware: Middleware, index: number): void {
  if (
    typeof middleware !== "object" ||
    middleware === null ||
    typeof middleware.name !== "string" ||
    middleware.name === ""
  ) {
    throw new AssemblyError(
      "the agent",
      `entry ${index} of \`middleware\` has no name`,
      "Make middlewares with createMiddleware({ name, … }).",
    );
  }
  const source = `middleware ${middleware.name}`;
  checkContextSchema(middleware.contextSchema, source);
  for (const key of hookNames) {
    const hook: Hook<unknown, unknown> | undefined = middleware[key];
    if (hook === undefined || typeof hook === "function") continue;
    if (typeof hook?.hook !== "function") {
      throw new AssemblyError(source, `${key} is no function`, "Give a function, or { hook, canJumpTo }.");
    }
    const unknown = (hook.canJumpTo ?? []).find((target) => !jumpTargets.has(target));
    if (unknown !== undefined) {
      throw new AssemblyError(source, `${key} wants to jump to "${unknown}"`, "Jump to model, tools or end.");
    }
  }
  for (const key of wrapNames) {
    if (middleware[key] === undefined || typeof middleware[key] === "function") continue;
    throw new AssemblyError(source, `${key} is no function`, "Give a function.");
  }
}

function checkUniqueNames(middleware: readonly Middleware[]): void {
  const seen = new Set<string>();
  for (const { name } of middleware) {
    if (seen.has(name)) {
      throw new AssemblyError(
        `middleware ${name}`,
        "two middlewares have this name",
        "Names stand for them in the log: give each its own.",
      );
    }
    seen.add(name);
  }
}

function checkContextSchema(schema: unknown, source: string): void {
  if (schema === undefined || fieldsOf(schema)) return;
  throw new AssemblyError(source, "its contextSchema is not an object schema", "Give z.object({ … }).");
}

function isTool(tool: unknown): tool is AgentTool {
  if (typeof tool !== "object" || tool === null) return false;
  const { name, run, invoke } = tool as Record<string, unknown>;
  return (
    typeof name === "string" && name !== "" && (typeof run === "function" || typeof invoke === "function")
  );
}

function collectTools(own: readonly unknown[], middleware: readonly Middleware[]): AgentTool[] {
  const tools = new Map<string, { tool: AgentTool; source: string }>();
  const add = (tool: unknown, source: string) => {
    if (!isTool(tool)) {
      throw new AssemblyError(
        source,
        "something in `tools` is no tool",
        "Make tools with defineTool, or with LangChain's tool().",
      );
    }
    const before = tools.get(tool.name);
    if (before && before.tool !== tool) {
      throw new AssemblyError(
        source,
        `the tool "${tool.name}" is there already, from ${before.source}`,
        "Rename one: the model tells tools apart by their names.",
      );
    }
    tools.set(tool.name, { tool, source });
  };
  for (const tool of own) add(tool, "the agent");
  for (const { name, tools: brought = [] } of middleware) {
    for (const tool of brought) add(tool, `middleware ${name}`);
  }
  return [...tools.values()].map(({ tool }) => tool);
}

function onceResolved(
  model: BaseChatModel | string,
  openStore: (() => Promise<Store>) | undefined,
): () => Promise<BaseChatModel> {
  let resolved: Promise<BaseChatModel> | undefined;
  const resolve = async () => {
    if (typeof model !== "string") return model;
    const store = await openStore?.();
    return resolveModel(model, store ? { store } : {});
  };
  return () => {
    resolved ??= resolve();
    // A failed try (a package that is missing, a key that is not set) is not kept.
    resolved.catch(() => {
      resolved = undefined;
    });
    return resolved;
  };
}

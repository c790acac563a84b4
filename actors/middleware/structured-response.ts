import type { AIMessage, BaseMessage } from "@langchain/core/messages";
import { z } from "zod";
import type { Json } from "../../events/json.ts";
import { StructuredResponseProduced } from "../../events/structured-response.ts";
import { jsonSchemaOf, type ResponseStrategy, strategyFor } from "../structured-response.ts";
import { defineTool, type ToolDefinition } from "../tools/define-tool.ts";
import { createMiddleware, type Middleware, type ModelRequest } from "./define-middleware.ts";
import { hiddenMessage } from "./hidden-message.ts";
import { isAnswer, lastAnswer, wantsTools } from "./last-answer.ts";

/** The model gave no answer in the form that was asked for, however often it was asked. */
export class StructuredResponseError extends Error {
  override readonly name = "StructuredResponseError";
  constructor(
    readonly tries: number,
    readonly problem: string,
  ) {
    super(
      `The model gave no answer of the requested form in ${tries} tries: ${problem}. Loosen the schema, raise maxRetries, or use another model.`,
    );
  }
}

type Parsed = { readonly value: Json } | { readonly problem: string };

function parse(strategy: ResponseStrategy, value: unknown): Parsed {
  const result = strategy.schema.safeParse(value);
  if (result.success) return { value: result.data as Json };
  return { problem: z.prettifyError(result.error).slice(0, 1_000) };
}

function parseText(strategy: ResponseStrategy, text: string): Parsed {
  // Models like to fence what they were asked to give bare.
  const bare = /^\s*```(?:json)?\s*\n([\s\S]*?)\n```\s*$/.exec(text)?.[1] ?? text;
  try {
    return parse(strategy, JSON.parse(bare));
  } catch {
    return { problem: "it is no JSON" };
  }
}

function extractionTool(strategy: ResponseStrategy): ToolDefinition {
  return defineTool({
    name: strategy.name,
    description:
      strategy.schema.description ??
      "Gives the final answer in the requested form. Call it once, when everything else is done.",
    schema: strategy.schema,
    idempotent: true,
    run: () => "",
  });
}

/** Call options under which a provider answers in JSON of a schema. */
function providerSettings(model: ModelRequest["model"], strategy: ResponseStrategy): Record<string, Json> {
  const schema = jsonSchemaOf(strategy) as Json;
  switch (model._llmType()) {
    case "anthropic":
      return { outputConfig: { format: { type: "json_schema", schema } } };
    case "ollama":
      return { format: schema };
    case "googlegenerativeai":
      return { responseSchema: schema };
    default:
      return {
        response_format: {
          type: "json_schema",
          json_schema: { name: strategy.name, strict: true, schema },
        },
      };
  }
}

/** Answers without tool calls since the last message that was none: tries that did not fit. */
function triesInARow(messages: readonly BaseMessage[]): number {
  let tries = 0;
  for (let at = messages.length - 1; at >= 0; at--) {
    const message = messages[at];
    if (!message || !isAnswer(message) || wantsTools(message)) break;
    tries += 1;
  }
  return tries;
}

function withReminder(messages: readonly BaseMessage[], strategy: ResponseStrategy): readonly BaseMessage[] {
  const last = messages.at(-1);
  if (!last || !isAnswer(last) || wantsTools(last)) return messages;
  const outcome = parseText(strategy, last.text);
  if ("value" in outcome) return messages;
  const how = strategy.kind === "tool" ? `by calling the tool ${strategy.name}` : "as JSON and nothing else";
  const text = `Your answer does not have the requested form: ${outcome.problem}. Give it again, ${how}.`;
  return [
    ...messages,
    hiddenMessage({ id: "structured-response-reminder", name: "structured_response", text }),
  ];
}

/**
 * Makes the last answer one of a given form, recorded as `StructuredResponseProduced`. Answers that do not fit are
 * given back to the model with what is wrong, `maxRetries` times.
 *
 * @throws {ResponseFormatError}
 * @example
 * createAgent({ model, responseFormat: z.object({ city: z.string() }) }) // adds this middleware, nearest to the model
 */
export function structuredResponseMiddleware(responseFormat: unknown): Middleware {
  const declared = strategyFor(responseFormat);
  // A middleware may have put another format into the request. Of this process only: after a restart in mid-run the
  // declared one is taken, until the model is asked again.
  const asked = new Map<string, ResponseStrategy>();
  const strategyOf = (runtime: { readonly runId: string }) => asked.get(runtime.runId) ?? declared;

  const request = (given: ModelRequest): ModelRequest => {
    const strategy =
      given.responseFormat === responseFormat && given.model.profile?.structuredOutput === undefined
        ? declared
        : strategyFor(given.responseFormat, given.model.profile);
    asked.set(given.runtime.runId, strategy);
    const messages = withReminder(given.messages, strategy);
    if (strategy.kind === "provider") {
      const modelSettings = { ...given.modelSettings, ...providerSettings(given.model, strategy) };
      return { ...given, messages, modelSettings };
    }
    const tools = [...given.tools, extractionTool(strategy)];
    return { ...given, messages, tools, toolChoice: given.toolChoice ?? "any" };
  };

  const settle = (answer: AIMessage, messages: readonly BaseMessage[], strategy: ResponseStrategy) => {
    const outcome = parseText(strategy, answer.text);
    if ("value" in outcome) return StructuredResponseProduced({ value: outcome.value as never });
    const tries = triesInARow(messages);
    if (tries > strategy.maxRetries) throw new StructuredResponseError(tries, outcome.problem);
    return { jumpTo: "model" as const };
  };

  return createMiddleware({
    name: "structured-response",
    beforeModel(_state, runtime) {
      const { run } = runtime;
      const strategy = strategyOf(runtime);
      const tries = run.toolCalls[strategy.name] ?? 0;
      if (tries <= strategy.maxRetries || (run.eventCounts.StructuredResponseProduced ?? 0) > 0) return;
      throw new StructuredResponseError(tries, `the arguments of ${strategy.name} did not fit`);
    },
    wrapModelCall: (given, handler) => handler(given.responseFormat === undefined ? given : request(given)),
    afterModel: {
      canJumpTo: ["model"],
      hook({ messages }, runtime) {
        const answer = lastAnswer(messages);
        if (!answer || wantsTools(answer) || (runtime.run.eventCounts.StructuredResponseProduced ?? 0) > 0)
          return;
        return settle(answer, messages, strategyOf(runtime));
      },
    },
    wrapToolCall(call, handler) {
      const strategy = strategyOf(call.runtime);
      if (strategy.kind !== "tool" || call.toolCall.name !== strategy.name || call.tool) return handler(call);
      const outcome = parse(strategy, call.toolCall.args);
      if ("problem" in outcome) {
        const content = `The arguments do not have the requested form: ${outcome.problem}. Call ${strategy.name} again.`;
        return { content, status: "error" };
      }
      const events = [StructuredResponseProduced({ value: outcome.value as never })];
      return { content: "The answer was recorded.", events, goto: "end" };
    },
    release(_state, { runId }) {
      asked.delete(runId);
    },
  });
}

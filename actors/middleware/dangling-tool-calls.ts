import type { BaseMessage } from "@langchain/core/messages";
import { AIMessage, ToolMessage } from "../langchain.ts";
import { createMiddleware } from "./define-middleware.ts";
import { type IdentifiedCall, isAnswer, isToolResult } from "./last-answer.ts";

/** Answers to calls, by the id of the call; a call id that occurs twice takes them in order. */
type Results = Map<string, ToolMessage[]>;

function collectResults(messages: readonly BaseMessage[]): Results {
  const results: Results = new Map();
  for (const message of messages) {
    if (!isToolResult(message)) continue;
    results.set(message.tool_call_id, [...(results.get(message.tool_call_id) ?? []), message]);
  }
  return results;
}

const isObject = (value: unknown): value is Record<string, unknown> =>
  typeof value === "object" && value !== null && !Array.isArray(value);

/** The calls of an answer as a provider accepts them: each with an id, a name and an object of arguments. */
function soundCalls(answer: AIMessage, index: number): { calls: IdentifiedCall[]; changed: boolean } {
  const calls = answer.tool_calls ?? [];
  const invalid = answer.invalid_tool_calls ?? [];
  let changed = invalid.length > 0;
  const sound = [...calls, ...invalid].map((call, place): IdentifiedCall => {
    const args = isObject(call.args) ? call.args : {};
    const name = call.name?.trim() ? call.name : "unknown_tool";
    const id = call.id?.trim() ? call.id : `${answer.id ?? `message-${index}`}-call-${place}`;
    if (args !== call.args || name !== call.name || id !== call.id) changed = true;
    return { name, id, args, type: "tool_call" };
  });
  return { calls: sound, changed };
}

function withCalls(answer: AIMessage, calls: readonly IdentifiedCall[]): AIMessage {
  const { tool_calls: _raw, function_call: _old, ...kwargs } = answer.additional_kwargs ?? {};
  return new AIMessage({
    ...(answer.id === undefined ? {} : { id: answer.id }),
    ...(answer.name === undefined ? {} : { name: answer.name }),
    content: answer.content,
    tool_calls: calls.map(({ id, name, args }) => ({ id, name, args, type: "tool_call" as const })),
    invalid_tool_calls: [],
    additional_kwargs: kwargs,
    response_metadata: { ...answer.response_metadata },
  });
}

function placeholder(call: IdentifiedCall, malformed: boolean): ToolMessage {
  const content = malformed
    ? `The call of ${call.name} could not be read, so it did not run. Make it again with valid arguments.`
    : `The call of ${call.name} was interrupted and has no result.`;
  return new ToolMessage({
    id: `no-result:${call.id}`,
    content,
    tool_call_id: call.id,
    name: call.name,
    status: "error",
  });
}

/**
 * The messages with every tool call followed by its result: results are moved behind their calls, calls without one
 * get an error in its place, results without a call are left out, and malformed calls are mended. The same array when
 * nothing is wrong.
 *
 * @example
 * repairToolCalls([human, answerWithCall, human]); // [human, answerWithCall, error, human]
 */
export function repairToolCalls(messages: readonly BaseMessage[]): readonly BaseMessage[] {
  const results = collectResults(messages);
  const repaired: BaseMessage[] = [];
  for (const [index, message] of messages.entries()) {
    if (isToolResult(message)) continue;
    if (!isAnswer(message)) {
      repaired.push(message);
      continue;
    }
    const { calls, changed } = soundCalls(message, index);
    repaired.push(changed ? withCalls(message, calls) : message);
    const malformed = new Set((message.invalid_tool_calls ?? []).map((call) => call.id));
    for (const call of calls) {
      const [result, ...rest] = results.get(call.id) ?? [];
      results.set(call.id, rest);
      repaired.push(result ?? placeholder(call, malformed.has(call.id)));
    }
  }
  const same = repaired.length === messages.length && repaired.every((item, at) => item === messages[at]);
  return same ? messages : repaired;
}

/**
 * Providers refuse a conversation in which a tool call has no result, for ever. This mends each request; the thread
 * stays as it is.
 *
 * @example
 * createAgent({ model, middleware: [danglingToolCallsMiddleware()] })
 */
export function danglingToolCallsMiddleware() {
  return createMiddleware({
    name: "dangling-tool-calls",
    wrapModelCall: (request, handler) => handler({ ...request, messages: repairToolCalls(request.messages) }),
  });
}

import type { EventDraft } from "../../events/define-event.ts";
import type { Json } from "../../events/json.ts";
import { isInterruptRequest } from "../interrupt.ts";
import { ToolMessage } from "../langchain.ts";
import type { ToolResult } from "../tools/define-tool.ts";
import type { CommandLike, ToolCallResult } from "./define-middleware.ts";

/** True for results that carry a message of their own (a tool's text or a tool message). */
export function hasContent(result: ToolCallResult): result is ToolResult | ToolMessage {
  return !isInterruptRequest(result) && "content" in result;
}

/** A tool message as a result that can carry events. */
function asToolResult(message: ToolMessage): ToolResult {
  const { content, status, artifact, additional_kwargs } = message;
  return {
    content: content as ToolResult["content"],
    ...(status !== undefined && { status }),
    ...(artifact !== undefined && { artifact: artifact as Json }),
    ...(Object.keys(additional_kwargs).length > 0 && {
      additional_kwargs: additional_kwargs as Readonly<Record<string, Json>>,
    }),
  };
}

/**
 * The same result with events beside it, before its own. A question to a human carries none: the call runs again after
 * the answer.
 */
export function withEvents(
  result: ToolCallResult,
  callId: string,
  events: readonly EventDraft[],
): ToolCallResult {
  if (events.length === 0 || isInterruptRequest(result)) return result;
  const plain = plainResult(result, callId);
  return { ...plain, events: [...events, ...(plain.events ?? [])] };
}

function plainResult(result: ToolResult | ToolMessage | CommandLike, callId: string): ToolResult {
  if (ToolMessage.isInstance(result)) return asToolResult(result);
  return hasContent(result) ? (result as ToolResult) : fromCommand(result, callId);
}

/** A `Command` shape as a result: the call's own message becomes its content, the rest stays an update. */
function fromCommand({ update = {}, goto }: CommandLike, callId: string): ToolResult {
  const entries = Array.isArray(update)
    ? (update as readonly (readonly [string, unknown])[])
    : Object.entries(update);
  const { messages, ...others }: Record<string, unknown> = Object.fromEntries(entries);
  const list: readonly unknown[] = Array.isArray(messages) ? messages : messages == null ? [] : [messages];
  const own = list.find((message) => ToolMessage.isInstance(message) && message.tool_call_id === callId);
  const rest = list.filter((message) => message !== own);
  return {
    ...(own === undefined ? { content: "Done." } : asToolResult(own as ToolMessage)),
    update: rest.length > 0 ? { ...others, messages: rest } : others,
    ...(goto !== undefined && { goto }),
  };
}

/** The same result with other content; everything beside it is kept. */
export function withContent(result: ToolResult | ToolMessage, content: ToolResult["content"]): ToolResult {
  return { ...(ToolMessage.isInstance(result) ? asToolResult(result) : result), content };
}

/** The same message with other content. */
export function messageWithContent(message: ToolMessage, content: ToolResult["content"]): ToolMessage {
  const { id, name, tool_call_id, status, artifact, additional_kwargs, response_metadata } = message;
  return new ToolMessage({
    content: content as string,
    tool_call_id,
    additional_kwargs,
    response_metadata,
    ...(id !== undefined && { id }),
    ...(name !== undefined && { name }),
    ...(status !== undefined && { status }),
    ...(artifact !== undefined && { artifact }),
  });
}

/** Content with its text changed; `content` itself when nothing changed. */
export function mapText(
  content: ToolResult["content"],
  change: (text: string) => string,
): ToolResult["content"] {
  if (typeof content === "string") return change(content);
  let changed = false;
  const parts = content.map((part) => {
    const text = typeof part === "string" ? part : part.text;
    if (typeof text !== "string") return part;
    const next = change(text);
    if (next === text) return part;
    changed = true;
    return typeof part === "string" ? next : { ...part, text: next };
  });
  return changed ? parts : content;
}

/** Tool messages in the update of a `Command` shape, replaced where `replace` gives another. */
export async function mapCommandMessages(
  command: CommandLike,
  replace: (message: ToolMessage) => ToolMessage | Promise<ToolMessage>,
): Promise<CommandLike> {
  const { update } = command;
  const changed = async (value: unknown): Promise<unknown> => {
    if (!Array.isArray(value)) return ToolMessage.isInstance(value) ? replace(value) : value;
    return Promise.all(value.map((one: unknown) => (ToolMessage.isInstance(one) ? replace(one) : one)));
  };
  if (Array.isArray(update)) {
    const pairs = update as readonly (readonly [string, unknown])[];
    const mapped = pairs.map(async ([field, value]): Promise<readonly [string, unknown]> => {
      return [field, field === "messages" ? await changed(value) : value];
    });
    return { ...command, update: await Promise.all(mapped) };
  }
  const fields = update as Readonly<Record<string, unknown>> | undefined;
  if (fields?.messages === undefined) return command;
  return { ...command, update: { ...fields, messages: await changed(fields.messages) } };
}

import type { BaseMessage } from "@langchain/core/messages";
import type { Message } from "../../events/message.ts";
import { coerceMessageLikeToMessage, isBaseMessage } from "../langchain.ts";
import { plainJson } from "./plain-json.ts";
import { knownStoredForm, pair } from "./to-langchain.ts";
import { uniqueToolCallIds } from "./tool-call-ids.ts";

/** What was given as a message is none. */
export class InvalidMessageError extends Error {
  override readonly name = "InvalidMessageError";
  constructor(
    readonly value: unknown,
    reason: string,
  ) {
    super(
      `This is no message: ${shown(value)} (${reason}). Give a text, a [role, text] pair, { role, content }, or a LangChain message.`,
    );
  }
}

function shown(value: unknown): string {
  const text = typeof value === "object" ? (JSON.stringify(plainJson(value)) ?? "") : String(value);
  return text.length > 120 ? `${text.slice(0, 120)}…` : text;
}

const storedTypes = new Set(["human", "ai", "system", "tool", "function", "generic", "remove"]);
const aliases: Readonly<Record<string, string>> = { user: "human", assistant: "ai", AIMessageChunk: "ai" };

/**
 * The stored form of anything that LangChain takes for a message: instances, chunks, `[role, text]`,
 * `{ role, content }`, `{ type, data }`, `lc` constructors, text. Dictionaries in stored form keep all their keys;
 * a message without an id gets one, and so do tool calls without one.
 *
 * @throws {InvalidMessageError}
 * @example
 * toStored(new HumanMessage("hello"), () => "m1"); // { id: "m1", type: "human", content: "hello" }
 */
export function toStored(message: unknown, mintId: () => string): Message {
  if (message === null || message === undefined) throw new InvalidMessageError(message, "it is empty");
  const flat = isBaseMessage(message) ? message : flattened(message);
  if (!isListOfObjects((flat as { tool_calls?: unknown }).tool_calls)) {
    throw new InvalidMessageError(message, "its tool calls are no list of objects");
  }
  if (isBaseMessage(message)) return storedInstance(message, mintId);
  if (isFlat(flat)) return withIds(flat, mintId);
  return storedInstance(coerce(message), mintId);
}

/** The same for a list or for one message. */
export function toStoredList(messages: unknown, mintId: () => string): Message[] {
  const isPair =
    Array.isArray(messages) &&
    messages.length === 2 &&
    isRole(messages[0]) &&
    typeof messages[1] === "string";
  if (Array.isArray(messages) && !isPair) return messages.map((message) => toStored(message, mintId));
  return [toStored(messages, mintId)];
}

function isRole(value: unknown): boolean {
  return (
    typeof value === "string" &&
    (storedTypes.has(value) || Object.hasOwn(aliases, value) || value === "developer")
  );
}

/** `{ type, data }`, LangChain's own stored form, as one dictionary. */
function flattened(value: unknown): unknown {
  if (typeof value !== "object" || value === null || !("data" in value) || !("type" in value)) return value;
  const { type, data } = value;
  return typeof data === "object" && data !== null ? { ...data, type } : value;
}

function isFlat(value: unknown): value is Message {
  if (typeof value !== "object" || value === null || Array.isArray(value)) return false;
  const { type, content, role } = value as Record<string, unknown>;
  if (typeof type !== "string") return false;
  if (role !== undefined && type !== "generic") return false;
  if (!storedTypes.has(aliases[type] ?? type)) return false;
  return type === "remove" || typeof content === "string" || Array.isArray(content);
}

function coerce(value: unknown): BaseMessage {
  try {
    return coerceMessageLikeToMessage(value as Parameters<typeof coerceMessageLikeToMessage>[0]);
  } catch (cause) {
    const reason = cause instanceof Error ? (cause.message.split("\n")[0] ?? "") : String(cause);
    throw new InvalidMessageError(value, reason);
  }
}

function isListOfObjects(value: unknown): boolean {
  if (value === undefined || value === null) return true;
  return Array.isArray(value) && value.every((item) => typeof item === "object" && item !== null);
}

function withIds(message: Message, mintId: () => string): Message {
  const type = aliases[message.type] ?? message.type;
  const content = message.type === "remove" ? (message.content ?? "") : message.content;
  const id = typeof message.id === "string" && message.id !== "" ? message.id : mintId();
  const same = type === message.type && id === message.id && content === message.content;
  return uniqueToolCallIds(same ? message : { ...message, type, content, id }, mintId);
}

/** What the classes hold that is not part of the message. */
const notData = new Set([
  "lc_serializable",
  "lc_kwargs",
  "lc_namespace",
  "lc_direct_tool_output",
  "tool_call_chunks",
  "contentBlocks",
  "type",
]);
/** What LangChain adds to every message, dropped when it is empty to keep events small. */
const fillers = ["additional_kwargs", "response_metadata", "tool_calls", "invalid_tool_calls"];

function storedInstance(instance: BaseMessage, mintId: () => string): Message {
  const known = knownStoredForm(instance);
  if (known) return known;
  const fields = instance as unknown as Record<string, unknown>;
  const given = (fields.lc_kwargs ?? {}) as Record<string, unknown>;
  const data: Record<string, unknown> = { id: undefined, type: instance.getType(), content: undefined };
  for (const key of new Set([...Object.keys(fields), ...Object.keys(given)])) {
    if (notData.has(key)) continue;
    const value = key in fields ? fields[key] : given[key];
    if (value !== undefined && value !== null) data[key] = value;
  }
  for (const key of fillers) {
    const value = data[key];
    if (typeof value === "object" && value !== null && Object.keys(value).length === 0) delete data[key];
  }
  if (data.content === undefined) data.content = "";
  const stored = withIds(plainJson(data) as unknown as Message, mintId);
  // Only what can no longer change may be remembered.
  if (Object.isFrozen(instance) && instance.id === stored.id) pair(stored, instance);
  return stored;
}

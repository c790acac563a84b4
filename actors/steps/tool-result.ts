import { type EventDraft, isEventDraft } from "../../events/define-event.ts";
import type { Message } from "../../events/message.ts";
import { isBaseMessage, ToolMessage } from "../langchain.ts";
import { plainJson } from "../messages/plain-json.ts";
import { toStored, toStoredList } from "../messages/to-stored.ts";
import { mintId } from "../mint-id.ts";
import { isCommandLike } from "./hook-result.ts";
import type { FieldUpdate } from "./updates.ts";

/** What a tool or a wrap gave, taken apart: the message for the model and what stands beside it. */
export interface ReadToolResult {
  readonly message: Message;
  readonly events: readonly EventDraft[];
  readonly update: FieldUpdate | undefined;
  /** As given. */
  readonly goto: unknown;
}

/** A tool gave a result without a JSON form, or events that no event definition made. */
export class ToolResultError extends Error {
  override readonly name = "ToolResultError";
}

type Call = { readonly id: string; readonly name: string };
type Entries = Readonly<Record<string, unknown>>;

const resultKeys = new Set([
  "content",
  "status",
  "artifact",
  "additional_kwargs",
  "events",
  "update",
  "goto",
]);

/** The tool message of a call, small: what LangChain would fill in empty is left out. */
function toolMessage(call: Call, content: Message["content"], more: Entries = {}): Message {
  const own = Object.fromEntries(Object.entries(more).filter(([, value]) => value !== undefined));
  const message = { id: mintId(), type: "tool", content, tool_call_id: call.id, name: call.name, ...own };
  return plainJson(message) as unknown as Message;
}

/** The error message that the model gets in the place of a result. */
export function toolError(call: Call, text: string): Message {
  return toolMessage(call, text, { status: "error" });
}

function isBlock(value: unknown): boolean {
  return typeof value === "object" && value !== null && typeof (value as Entries).type === "string";
}

function isToolResult(value: object): value is Entries & { content: Message["content"] } {
  const { content } = value as Entries;
  const isContent = typeof content === "string" || (Array.isArray(content) && content.every(isBlock));
  return isContent && Object.keys(value).every((key) => resultKeys.has(key));
}

/** A tool message in any of LangChain's forms, made the result of this call. */
function ownMessage(call: Call, given: unknown): Message {
  const stored = toStored(given, mintId);
  const isOwn = stored.tool_call_id === call.id && stored.name !== undefined && stored.name !== null;
  return isOwn ? stored : { ...stored, tool_call_id: call.id, name: stored.name ?? call.name };
}

function isToolMessage(value: unknown): boolean {
  if (isBaseMessage(value)) return ToolMessage.isInstance(value);
  return (
    typeof value === "object" &&
    value !== null &&
    (value as Entries).type === "tool" &&
    "tool_call_id" in value
  );
}

/**
 * Takes apart what a tool gave: text, a `ToolResult`, a tool message, a `Command` shape, content blocks, or any JSON.
 *
 * @throws {ToolResultError} @throws {InvalidMessageError} for messages in a Command that are none
 */
export function readToolResult(call: Call, result: unknown): ReadToolResult {
  const plain = (message: Message): ReadToolResult => ({
    message,
    events: [],
    update: undefined,
    goto: undefined,
  });
  if (result === undefined || result === null) return plain(toolMessage(call, ""));
  if (typeof result === "string") return plain(toolMessage(call, result));
  if (isToolMessage(result)) return plain(ownMessage(call, result));
  if (typeof result === "object") {
    if (isCommandLike(result)) return fromCommand(call, result);
    if (isToolResult(result)) return fromToolResult(call, result);
    if (Array.isArray(result) && result.length > 0 && result.every(isBlock)) {
      return plain(toolMessage(call, result as Message["content"]));
    }
  }
  if (typeof result === "number" || typeof result === "bigint")
    return plain(toolMessage(call, String(result)));
  const json = plainJson(result);
  if (json === null) {
    throw new ToolResultError(
      `The tool ${call.name} gave a result that has no JSON form. Return text or plain JSON.`,
    );
  }
  return plain(toolMessage(call, JSON.stringify(json)));
}

function fromToolResult(call: Call, result: Entries & { content: Message["content"] }): ReadToolResult {
  const { content, status, artifact, additional_kwargs, events = [], update, goto } = result;
  const list = Array.isArray(events) ? events : [events];
  if (!list.every(isEventDraft)) {
    throw new ToolResultError(
      `The tool ${call.name} gave events that no event definition made. Make them with an event that defineEvent gave.`,
    );
  }
  const message = toolMessage(call, content, { status, artifact, additional_kwargs });
  return { message, events: list, update: update as FieldUpdate | undefined, goto };
}

/** Of a Command's messages, the result of this call leaves the list; the others are added to the conversation. */
function fromCommand(call: Call, command: { update?: FieldUpdate; goto?: unknown }): ReadToolResult {
  const entries = Array.isArray(command.update) ? command.update : Object.entries(command.update ?? {});
  const fields = entries.filter(([field]) => field !== "messages");
  const given = entries.find(([field]) => field === "messages")?.[1];
  const messages = given === undefined || given === null ? [] : toStoredList(given, mintId);
  const own = messages.find(({ type, tool_call_id: id }) => type === "tool" && id === call.id);
  const others = messages.filter((message) => message !== own);
  const names = fields.map(([field]) => field);
  const said = names.length > 0 ? `Updated ${names.join(", ")}.` : "Done.";
  return {
    message: own ? ownMessage(call, own) : toolMessage(call, said),
    events: [],
    update: others.length > 0 ? [...fields, ["messages", others] as const] : fields,
    goto: command.goto,
  };
}

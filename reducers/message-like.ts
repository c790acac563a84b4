import type { Message } from "../events/message.ts";

/** Removal of one message by id, in LangChain's form. */
export interface MessageRemoval {
  readonly type: "remove";
  readonly id: string;
}

/** A message as it may be written in an update: perhaps without an id. */
export type MessageDraft = Omit<Message, "id"> & { readonly id?: string | null };

/** Something stands where a message should, and it is none. */
export class NotAMessageError extends Error {
  override readonly name = "NotAMessageError";
  constructor(readonly reason: string) {
    super(
      `An update of the messages holds something that is no message: ${reason}. Give { role, content }, { type, content } or a LangChain message.`,
    );
  }
}

const typeOfRole: Readonly<Record<string, string>> = {
  user: "human",
  human: "human",
  assistant: "ai",
  ai: "ai",
  system: "system",
  developer: "system",
  tool: "tool",
  function: "function",
  generic: "generic",
  remove: "remove",
  HumanMessageChunk: "human",
  AIMessageChunk: "ai",
  SystemMessageChunk: "system",
  ToolMessageChunk: "tool",
  FunctionMessageChunk: "function",
};

/** True for the role names that messages are written with. */
export function isMessageRole(text: string): boolean {
  return Object.hasOwn(typeOfRole, text);
}

function typeFor(role: unknown): string {
  const type = typeof role === "string" && Object.hasOwn(typeOfRole, role) ? typeOfRole[role] : undefined;
  if (type === undefined) throw new NotAMessageError(`the role ${JSON.stringify(role)} is not known`);
  return type;
}

/** Keys of LangChain's message objects that are part of the message. */
const messageKeys = [
  "id",
  "name",
  "additional_kwargs",
  "response_metadata",
  "tool_calls",
  "invalid_tool_calls",
  "usage_metadata",
  "tool_call_id",
  "status",
  "artifact",
] as const;

function fromInstance(instance: Record<string, unknown> & { getType(): string }): MessageDraft {
  const draft: Record<string, unknown> = { type: typeFor(instance.getType()), content: instance.content };
  for (const key of messageKeys) if (instance[key] !== undefined) draft[key] = instance[key];
  return draft as MessageDraft;
}

/**
 * Reads one message from the forms that LangChain's users write: a text, `[role, text]`, `{ role, content }`,
 * `{ type, content }`, `{ type, data }`, a message object or a streamed chunk.
 *
 * @throws {NotAMessageError}
 * @example
 * messageFrom(["user", "hello"]); // { type: "human", content: "hello" }
 */
export function messageFrom(like: unknown): MessageDraft | MessageRemoval {
  if (typeof like === "string") return { type: "human", content: like };
  if (Array.isArray(like)) {
    if (like.length !== 2) throw new NotAMessageError("a list that is not [role, content]");
    return messageFrom({ role: like[0], content: like[1] });
  }
  if (typeof like !== "object" || like === null)
    throw new NotAMessageError(`a ${like === null ? "null" : typeof like}`);
  if ("getType" in like && typeof like.getType === "function") {
    return checked(fromInstance(like as Record<string, unknown> & { getType(): string }));
  }
  const { role, type, data, ...rest } = like as Record<string, unknown>;
  const isPlain = "content" in rest && typeof type === "string" && typeFor(type) === type;
  if (isPlain) return checked(like as MessageDraft);
  if (typeof data === "object" && data !== null && !("content" in rest)) {
    return messageFrom({ ...data, type: type ?? role });
  }
  return checked({ ...rest, type: typeFor(type ?? role) } as MessageDraft);
}

function checked(draft: MessageDraft): MessageDraft | MessageRemoval {
  if (draft.type === "remove") {
    if (typeof draft.id !== "string") throw new NotAMessageError("a removal without the id of a message");
    return { type: "remove", id: draft.id };
  }
  if (typeof draft.content !== "string" && !Array.isArray(draft.content)) {
    throw new NotAMessageError(`a message of type ${draft.type} without content`);
  }
  return draft;
}

import { sha256 } from "../../events/hash-chain.ts";
import type { Json } from "../../events/json.ts";
import { type Message, oneMessageSchema } from "../../events/message.ts";
import { messageFrom, NotAMessageError } from "../../reducers/message-like.ts";
import { isObject } from "./source-thread.ts";

/** Messages of a file, as events can hold them. */
export interface SourceMessages {
  readonly messages: readonly Message[];
  readonly notes: readonly string[];
  /** What stands among the messages and is none. */
  readonly unreadable: readonly Json[];
}

/** The messages of a thread state: verbatim where that is possible, and a note for each that is not. */
export function readMessages(value: Json | undefined, threadId: string): SourceMessages {
  const notes: string[] = [];
  const unreadable: Json[] = [];
  const messages: Message[] = [];
  const seen = new Set<string>();
  if (value !== undefined && !Array.isArray(value)) {
    return { messages, notes: ["messages: they are no list and were kept aside"], unreadable: [value] };
  }
  for (const [index, raw] of ((value ?? []) as readonly Json[]).entries()) {
    const message = readOne(raw, `messages.${index}`, notes);
    if (!message) {
      unreadable.push(raw);
      continue;
    }
    const id = message.id || `import-${sha256(`${threadId}\n${index}`).slice(0, 24)}`;
    if (!message.id) notes.push(`messages.${index}: it had no id and got ${id}`);
    if (seen.has(id)) notes.push(`messages.${index}: its id ${id} is there a second time`);
    seen.add(id);
    messages.push(message.id === id ? (message as Message) : ({ ...message, id } as Message));
  }
  return { messages, notes, unreadable };
}

type Draft = Omit<Message, "id"> & { readonly id?: string | null };

function readOne(raw: Json, path: string, notes: string[]): Draft | undefined {
  if (isObject(raw) && !isListOfObjects(raw.tool_calls)) {
    notes.push(`${path}: it is no message (its tool calls are no list of objects) and was kept aside`);
    return undefined;
  }
  if (isObject(raw) && fits(raw)) return raw as unknown as Draft;
  const filled =
    isObject(raw) && raw.content == null && typeof raw.type === "string" ? { ...raw, content: "" } : raw;
  if (filled !== raw && fits(filled)) {
    notes.push(`${path}: its content was null and became an empty text`);
    return filled as unknown as Draft;
  }
  try {
    const message = messageFrom(raw);
    if (message.type === "remove") throw new NotAMessageError("it is a removal");
    notes.push(`${path}: it was brought into the form of a message`);
    return message as Draft;
  } catch (error) {
    if (!(error instanceof NotAMessageError)) throw error;
    notes.push(`${path}: it is no message (${error.reason}) and was kept aside`);
    return undefined;
  }
}

function isListOfObjects(value: Json | undefined): boolean {
  return value == null || (Array.isArray(value) && value.every((item) => isObject(item)));
}

/** True for the form that events hold, but for the id. */
function fits(raw: Json): boolean {
  return isObject(raw) && raw.type !== "remove" && oneMessageSchema().safeParse({ ...raw, id: "x" }).success;
}

const uuid7 = /([0-9a-f]{8})-([0-9a-f]{4})-7[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/;
/** Times outside these years are no times. */
const plausible = { from: Date.UTC(2020, 0), to: Date.UTC(2100, 0) };

/** Time that an id of LangChain's was made, in milliseconds since 1970; undefined when it does not tell. */
export function timeOfId(id: string): number | undefined {
  const [, high, low] = uuid7.exec(id) ?? [];
  if (high === undefined || low === undefined) return undefined;
  const time = Number.parseInt(high + low, 16);
  return time >= plausible.from && time < plausible.to ? time : undefined;
}

/** True for what only programs say in a human's name. */
export function isHidden(message: Message): boolean {
  return message.additional_kwargs?.hide_from_ui === true || /reminder|summary/.test(message.name ?? "");
}

/** Text of a message's content. */
export function textOf({ content }: Message): string {
  if (typeof content === "string") return content;
  return content
    .map((block) => (typeof block === "string" ? block : typeof block.text === "string" ? block.text : ""))
    .join("");
}

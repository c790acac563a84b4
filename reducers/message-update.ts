import type { EventDraft } from "../events/define-event.ts";
import type { Message } from "../events/message.ts";
import { MessagesAdded, MessagesRemoved, MessagesReplaced } from "../events/messages.ts";
import { isMessageRole, type MessageDraft, messageFrom } from "./message-like.ts";
import { hasUniqueIds, messagePosition, UnknownMessageError } from "./message-list.ts";
import { sameJson } from "./same-json.ts";

type Messages = readonly Message[];

/** Id of the removal that takes away every message. */
export const removeAllMessages = "__remove_all__";

/** An update of the messages is null or undefined, which says neither "nothing" nor "clear". */
export class EmptyMessagesUpdateError extends Error {
  override readonly name = "EmptyMessagesUpdateError";
  constructor() {
    super("The update of the messages is null. Leave the key out to change nothing, or remove all messages.");
  }
}

/**
 * Turns an update of the messages, as LangChain's hooks and tools return it, into events that say only what changed:
 * what `add_messages` would do, without the messages that stay as they are.
 *
 * @param update one message or a list, in any form of LangChain's; `{ type: "remove", id }` takes a message away
 * @param current the messages of the state
 * @param mintId gives an id to a message that has none
 * @throws {NotAMessageError} @throws {UnknownMessageError} @throws {EmptyMessagesUpdateError}
 * @example
 * messagesFromUpdate({ role: "user", content: "hello" }, state.messages, randomUUID);
 */
export function messagesFromUpdate(
  update: unknown,
  current: Messages,
  mintId: () => string,
): readonly EventDraft[] {
  if (update == null) throw new EmptyMessagesUpdateError();
  const items = listOf(update).map(messageFrom);
  const lastClear = items.findLastIndex((item) => item.type === "remove" && item.id === removeAllMessages);
  const written = new Map<string, Message | undefined>();
  for (const item of items.slice(lastClear + 1)) {
    if (item.type !== "remove") {
      const message = withId(item as MessageDraft, mintId);
      written.set(message.id, message);
      continue;
    }
    const id = item.id as string;
    const inList = lastClear === -1 && messagePosition(current, id) !== undefined;
    if (!inList && !written.has(id)) throw new UnknownMessageError(id);
    written.set(id, undefined);
  }
  return lastClear === -1 ? changes(current, written) : afterClear(current, written);
}

/** A pair of texts is one message, any other list holds messages. */
function listOf(update: unknown): readonly unknown[] {
  if (!Array.isArray(update)) return [update];
  const [first, second] = update;
  const isPair = update.length === 2 && typeof first === "string" && typeof second === "string";
  return isPair && isMessageRole(first) ? [update] : update;
}

function withId(draft: MessageDraft, mintId: () => string): Message {
  return (draft.id ? draft : { ...draft, id: mintId() }) as Message;
}

function changes(current: Messages, written: ReadonlyMap<string, Message | undefined>): EventDraft[] {
  const removed: string[] = [];
  const replaced: Message[] = [];
  const added: Message[] = [];
  for (const [id, message] of written) {
    const position = messagePosition(current, id);
    if (message === undefined) {
      if (position !== undefined) removed.push(id);
    } else if (position === undefined) added.push(message);
    else if (!sameJson(current[position], message)) replaced.push(message);
  }
  return [
    ...(removed.length > 0 ? [MessagesRemoved({ ids: removed })] : []),
    ...(replaced.length > 0 ? [MessagesReplaced({ messages: replaced })] : []),
    ...(added.length > 0 ? [MessagesAdded({ messages: added })] : []),
  ];
}

/** Says which messages went, when those that stay keep their order; else that all went and which came. */
function afterClear(current: Messages, written: ReadonlyMap<string, Message | undefined>): EventDraft[] {
  const result = [...written.values()].filter((message) => message !== undefined);
  const places = result.map(({ id }) => messagePosition(current, id) ?? current.length);
  const inOrder = places.every((place, at) => at === 0 || place >= (places[at - 1] ?? 0));
  const staying = places.filter((place) => place < current.length).length;
  if (staying === 0 || !inOrder || !hasUniqueIds(current)) {
    return [
      ...(current.length > 0 ? [MessagesRemoved({ all: true })] : []),
      ...(result.length > 0 ? [MessagesAdded({ messages: result })] : []),
    ];
  }
  const target = new Map<string, Message | undefined>(current.map(({ id }) => [id, undefined]));
  for (const message of result) target.set(message.id, message);
  return changes(current, target);
}

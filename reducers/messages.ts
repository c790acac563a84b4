import type { DataOf } from "../events/define-event.ts";
import type { FoldEvent } from "../events/envelope.ts";
import type { Message } from "../events/message.ts";
import type { MessagesAdded, MessagesRemoved } from "../events/messages.ts";
import { type Accumulator, defineReducer } from "./define-reducer.ts";
import { changeMessages, type MessageList } from "./message-list.ts";
import { messagesFromUpdate } from "./message-update.ts";

type Messages = readonly Message[];
type Removal = DataOf<typeof MessagesRemoved>;

/** A message has no id. Ids are minted before the event, never while folding. */
export class MessageWithoutIdError extends Error {
  override readonly name = "MessageWithoutIdError";
  constructor() {
    super(
      "A message has no id, and reducers make none. Give it an id, or use messagesFromUpdate with an id source.",
    );
  }
}

const changeBy = {
  MessagesAdded: (list: MessageList, data: DataOf<typeof MessagesAdded>) => list.add(data.messages),
  MessagesReplaced: (list: MessageList, data: DataOf<typeof MessagesAdded>) => list.replace(data.messages),
  MessagesRemoved: (list: MessageList, data: Removal) =>
    "ids" in data ? list.remove(data.ids) : list.clear(),
  ModelResponded: (list: MessageList, data: { readonly message: Message }) => list.add([data.message]),
  ToolCallCompleted: (list: MessageList, data: { readonly message: Message }) => list.place(data.message),
  ToolCallFailed: (list: MessageList, data: { readonly message: Message }) => list.place(data.message),
  ToolCallAbandoned: (list: MessageList, data: { readonly message: Message }) => list.place(data.message),
} as const;

type MessageEvent = keyof typeof changeBy;

/** Events that can change the list. */
export const messageEventTypes = Object.keys(changeBy) as readonly MessageEvent[];

function isMessageEvent(type: string): type is MessageEvent {
  return Object.hasOwn(changeBy, type);
}

function change(list: MessageList, event: FoldEvent): void {
  if (isMessageEvent(event.type)) changeBy[event.type](list, event.data as never);
}

function handle(messages: Messages, _data: unknown, event: FoldEvent): Messages {
  const list = changeMessages(messages);
  change(list, event);
  return list.value();
}

function accumulate(initial: Messages): Accumulator<Messages> {
  const list = changeMessages(initial);
  return { apply: (event) => change(list, event), value: list.value };
}

function refuseToMint(): never {
  throw new MessageWithoutIdError();
}

/**
 * The conversation, oldest message first. A message with a known id takes the old one's place; the results of tools
 * stand in the order of their calls.
 */
export const messages = defineReducer<Messages>({
  field: "messages",
  initial: [],
  algebra: "sequence",
  on: Object.fromEntries(messageEventTypes.map((type) => [type, handle])),
  accumulate,
  merge: (current, update) =>
    messagesFromUpdate(update, current, refuseToMint).reduce<Messages>(
      (value, draft) => handle(value, draft.data, { ...draft, version: 0 }),
      current,
    ),
  fromUpdate: (update, current) => messagesFromUpdate(update, current, refuseToMint),
});

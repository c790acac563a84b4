import type { FoldEvent } from "../../events/envelope.ts";
import type { Message } from "../../events/message.ts";
import { ReferenceRefusal } from "./reference-refusal.ts";

type Messages = readonly Message[];

/** `add_messages`: a known id takes the old message's place (of doubles the last), a new one goes to the end. */
function add(list: Messages, message: Message): Messages {
  const place = list.findLastIndex(({ id }) => id === message.id);
  return place === -1 ? [...list, message] : list.with(place, message);
}

function mustKnow(list: Messages, ids: readonly string[]): void {
  const unknown = ids.find((id) => !list.some((message) => message.id === id));
  if (unknown !== undefined) throw new ReferenceRefusal(`there is no message "${unknown}"`);
}

function callsOf(message: Message | undefined): readonly (string | undefined)[] {
  return (message?.tool_calls ?? []).map(({ id }) => id);
}

/** A tool's result stands behind its call, before the results of later calls of the same message. */
function place(list: Messages, result: Message): Messages {
  if (list.some(({ id }) => id === result.id)) return add(list, result);
  const caller = list.findLastIndex((message) => callsOf(message).includes(result.tool_call_id));
  if (result.tool_call_id === undefined || caller === -1) return [...list, result];
  const order = callsOf(list[caller]);
  let at = caller + 1;
  for (; at < list.length; at++) {
    const message = list[at];
    if (message?.type !== "tool") break;
    const other = order.indexOf(message.tool_call_id);
    if (other === -1 || other > order.indexOf(result.tool_call_id)) break;
  }
  return [...list.slice(0, at), result, ...list.slice(at)];
}

/** The conversation, event by event, without any index. */
export function messagesModel(value: unknown, { type, data: given }: FoldEvent<never>): unknown {
  const list = value as Messages;
  const data = given as { messages: Messages; message: Message; ids?: readonly string[] };
  switch (type) {
    case "MessagesAdded":
      return data.messages.reduce(add, list);
    case "MessagesReplaced":
      mustKnow(
        list,
        data.messages.map(({ id }) => id),
      );
      return data.messages.reduce(add, list);
    case "MessagesRemoved": {
      const { ids } = data;
      if (ids === undefined) return [];
      mustKnow(list, ids);
      return list.filter(({ id }) => !ids.includes(id));
    }
    case "ModelResponded":
      return add(list, data.message);
    case "ToolCallCompleted":
    case "ToolCallFailed":
    case "ToolCallAbandoned":
      return place(list, data.message);
    default:
      return list;
  }
}

import { type BaseMessage, HumanMessage } from "@langchain/core/messages";

/**
 * A message for the model that no client shows. Put it into a request, never into the thread.
 *
 * @example
 * hiddenMessage({ id: "hint:1", name: "hint", text: "Answer in French." })
 */
export function hiddenMessage(options: { id: string; name: string; text: string }): HumanMessage {
  return new HumanMessage({
    id: options.id,
    name: options.name,
    content: options.text,
    additional_kwargs: { hide_from_ui: true },
  });
}

/** True for messages that stand in a conversation for the model only. */
function isHidden(message: BaseMessage): boolean {
  const { hide_from_ui: hidden, dynamic_context_reminder: reminder } = message.additional_kwargs ?? {};
  return hidden === true || reminder === true;
}

/** True for what a person said: a human message that no middleware put there. */
export function isFromUser(message: BaseMessage): boolean {
  return message.getType() === "human" && !isHidden(message);
}

/** Index of the newest message of a person; -1: there is none. */
export function lastUserIndex(messages: readonly BaseMessage[]): number {
  return messages.findLastIndex(isFromUser);
}

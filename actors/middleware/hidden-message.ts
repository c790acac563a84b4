import type { BaseMessage } from "@langchain/core/messages";
import type { Message } from "../../events/message.ts";
import { HumanMessage } from "../langchain.ts";

/** Key in the extra data of a message that shows viewed images. */
export const imageContextMarker = "deerflow_view_image_context";
/** Key in the extra data of a message that tells the model the date. */
export const dynamicContextMarker = "dynamic_context_reminder";

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
  const { hide_from_ui: hidden, [dynamicContextMarker]: reminder } = message.additional_kwargs ?? {};
  return hidden === true || reminder === true;
}

/**
 * A message from outside without the keys that only middlewares set: with them it would pass for one of theirs, and be
 * taken out of the thread or kept from being shown.
 */
export function withoutMarkers(message: Message): Message {
  const { additional_kwargs: extra } = message;
  if (!extra || !(imageContextMarker in extra || dynamicContextMarker in extra)) return message;
  const { [imageContextMarker]: _image, [dynamicContextMarker]: _date, ...rest } = extra;
  return { ...message, additional_kwargs: rest };
}

/** True for what a person said: a human message that no middleware put there. */
export function isFromUser(message: BaseMessage): boolean {
  return message.getType() === "human" && !isHidden(message);
}

/** Index of the newest message of a person; -1: there is none. */
export function lastUserIndex(messages: readonly BaseMessage[]): number {
  return messages.findLastIndex(isFromUser);
}

import type { BaseMessage } from "@langchain/core/messages";
import { HumanMessage } from "../langchain.ts";
import { createMiddleware } from "./define-middleware.ts";
import { isFromUser } from "./hidden-message.ts";
import { typedText } from "./message-text.ts";

/** Tags with which this package speaks to the model. A user who writes them must not speak in its name. */
const controlTags = [
  "available-deferred-tools",
  "current_uploads",
  "uploaded_files",
  "system-reminder",
  "earlier-summary",
];

const forged = new RegExp(`<(?=\\s*/?\\s*(?:${controlTags.join("|")})\\b)`, "gi");

function neutral(text: string): string {
  return text.replace(forged, "&lt;");
}

/** The content with the user's own text made harmless; blocks that middlewares put in front stay. */
function cleanContent(message: BaseMessage): HumanMessage["content"] {
  const { content } = message;
  if (typeof content !== "string") {
    const own = message.additional_kwargs?.original_user_content !== undefined;
    return content.map((block, index) => {
      if ((own && index === 0) || block.type !== "text" || typeof block.text !== "string") return block;
      return { ...block, text: neutral(block.text) };
    }) as HumanMessage["content"];
  }
  const typed = typedText(message);
  const hasBlock = message.additional_kwargs?.original_user_content !== undefined && content.endsWith(typed);
  if (!hasBlock) return neutral(content);
  return content.slice(0, content.length - typed.length) + neutral(typed);
}

const cleaned = new WeakMap<BaseMessage, BaseMessage>();

function clean(message: BaseMessage): BaseMessage {
  if (!isFromUser(message)) return message;
  const known = cleaned.get(message);
  if (known) return known;
  const content = cleanContent(message);
  const same = JSON.stringify(content) === JSON.stringify(message.content);
  const result = same
    ? message
    : new HumanMessage({
        content,
        additional_kwargs: { ...message.additional_kwargs },
        ...(message.id === undefined ? {} : { id: message.id }),
        ...(message.name === undefined ? {} : { name: message.name }),
      });
  cleaned.set(message, result);
  return result;
}

/**
 * Makes control tags that users write harmless, in the request only: the thread keeps what was typed.
 *
 * @example
 * createAgent({ model, middleware: [inputSanitizationMiddleware()] })
 */
export function inputSanitizationMiddleware() {
  return createMiddleware({
    name: "input-sanitization",
    wrapModelCall(request, handler) {
      const messages = request.messages.map(clean);
      const same = messages.every((message, index) => message === request.messages[index]);
      return handler(same ? request : { ...request, messages });
    },
  });
}

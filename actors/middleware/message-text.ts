/** A message as hooks may meet it: a class of LangChain's, or a plain object with `type` or `role`. */
type MessageLike = {
  readonly type?: unknown;
  readonly role?: unknown;
  readonly content?: unknown;
  readonly additional_kwargs?: Readonly<Record<string, unknown>>;
  getType?(): string;
};

const typeOfRole: Readonly<Record<string, string>> = { user: "human", assistant: "ai" };

/** `human`, `ai`, … of a message in any form; undefined for what is none. */
export function messageType(message: unknown): string | undefined {
  if (typeof message !== "object" || message === null) return undefined;
  const { type, role, getType } = message as MessageLike;
  const name = typeof getType === "function" ? getType.call(message) : (type ?? role);
  return typeof name === "string" ? (typeOfRole[name] ?? name) : undefined;
}

/** True for messages that middlewares put in for the model. */
function isInserted(message: MessageLike): boolean {
  const { hide_from_ui, dynamic_context_reminder } = message.additional_kwargs ?? {};
  return hide_from_ui === true || dynamic_context_reminder === true;
}

/** Messages that a person wrote. */
export function userMessages(messages: readonly unknown[]): readonly unknown[] {
  return messages.filter(
    (message) => messageType(message) === "human" && !isInserted(message as MessageLike),
  );
}

/**
 * The text in any form of content: text as it is, blocks joined by new lines, everything else skipped. Of a text that is
 * kept in the blob store, its beginning.
 */
export function textOfContent(content: unknown): string {
  if (typeof content === "string") return content;
  if (Array.isArray(content)) {
    return content
      .map(textOfContent)
      .filter((text) => text !== "")
      .join("\n");
  }
  if (typeof content !== "object" || content === null) return "";
  const { type, text, preview, content: inner } = content as Readonly<Record<string, unknown>>;
  if (typeof text === "string") return text;
  return type === "blob" && typeof preview === "string" ? preview : textOfContent(inner);
}

const uploadsBlock = /^\s*<(current_uploads|uploaded_files)>[\s\S]*?<\/\1>\s*/;

/** What the user typed: without the block about uploaded files that stands in front of it. */
export function typedText(message: unknown): string {
  const { content, additional_kwargs } = message as MessageLike;
  const original = additional_kwargs?.original_user_content;
  const isKept =
    typeof original === "string" || (original as { type?: unknown } | undefined)?.type === "blob";
  return isKept ? textOfContent(original) : textOfContent(content).replace(uploadsBlock, "");
}

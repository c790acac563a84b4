import type { Message, ToolCall } from "../../events/message.ts";

/**
 * The message with an id on every tool call, none twice. Calls without an id, or with one that is taken, get a fresh
 * one; blocks of the content that stand for the same call follow.
 *
 * @param taken ids that calls of other messages have
 * @example
 * uniqueToolCallIds({ id: "m", type: "ai", content: "", tool_calls: [{ name: "ls", args: {} }] }, () => "c1");
 */
export function uniqueToolCallIds(
  message: Message,
  mintId: () => string,
  taken: ReadonlySet<string> = new Set(),
): Message {
  const calls = message.tool_calls;
  if (!calls || calls.length === 0) return message;
  const seen = new Set(taken);
  let changed = false;
  const renamed = new Map<string, string[]>();
  const unique = calls.map((call): ToolCall => {
    const old = call.id ?? "";
    const id = old === "" || seen.has(old) ? mintId() : old;
    seen.add(id);
    renamed.set(old, [...(renamed.get(old) ?? []), id]);
    if (id === call.id) return call;
    changed = true;
    return { ...call, id };
  });
  if (!changed) return message;
  const next: Record<string, unknown> = { ...message, tool_calls: unique };
  const following = (id: unknown): string | undefined =>
    typeof id === "string" ? renamed.get(id)?.shift() : undefined;
  if (Array.isArray(message.content)) {
    next.content = message.content.map((block) => {
      if (typeof block === "string" || (block.type !== "tool_use" && block.type !== "tool_call"))
        return block;
      const id = following(block.id);
      return id === undefined ? block : { ...block, id };
    });
  }
  const raw = message.additional_kwargs?.tool_calls;
  if (Array.isArray(raw) && raw.length === unique.length) {
    next.additional_kwargs = {
      ...message.additional_kwargs,
      tool_calls: raw.map((call: object, index) => ({ ...call, id: unique[index]?.id })),
    };
  }
  return next as Message;
}

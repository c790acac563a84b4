import { canonicalJson } from "../../../events/canonical-json.ts";
import { sha256 } from "../../../events/hash-chain.ts";
import type { Message } from "../../../events/message.ts";

/** What a model reads of one message. Ids and what providers say beside it are left out: they differ from run to run. */
export interface VisibleMessage {
  readonly type: string;
  readonly content: Message["content"];
  readonly name?: string;
  readonly calls?: readonly { readonly call: string; readonly name: string; readonly args: unknown }[];
  /** The call that a result answers. */
  readonly call?: string;
}

/**
 * What a model reads of a conversation, without the system prompt. Call ids are replaced by their order, so that the
 * same conversation reads the same whatever ids its calls got.
 */
export function visibleMessages(messages: readonly Message[]): VisibleMessage[] {
  const names = new Map<string, string>();
  let count = 0;
  // An id that comes again stands for the newest call.
  const begin = (id: string | undefined) => {
    count += 1;
    if (id !== undefined) names.set(id, `call-${count}`);
    return `call-${count}`;
  };
  return messages
    .filter(({ type }) => type !== "system")
    .map((message) => {
      const { type, content, name, tool_calls, tool_call_id } = message;
      return {
        type,
        content,
        ...(name && { name }),
        ...(tool_calls &&
          tool_calls.length > 0 && {
            calls: tool_calls.map((call) => ({ call: begin(call.id), name: call.name, args: call.args })),
          }),
        ...(tool_call_id !== undefined && { call: names.get(tool_call_id) ?? tool_call_id }),
      };
    });
}

/** Text by which the same conversation is found again. */
export function requestKey(messages: readonly VisibleMessage[]): string {
  return sha256(canonicalJson(messages));
}

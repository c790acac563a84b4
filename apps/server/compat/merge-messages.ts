import type { Thread } from "../../../actors/agent-contract.ts";
import type { Message } from "../../../events/message.ts";

/**
 * The messages of a thread with those of a client, as LangGraph adds them: a known id takes the old one's place, a
 * `remove` takes it away, all others come to the end.
 */
export async function mergeMessages(thread: Thread, given: unknown): Promise<readonly unknown[]> {
  const { messages = [] } = (await thread.state()) as { readonly messages?: readonly Message[] };
  let list: readonly unknown[] = messages;
  for (const message of Array.isArray(given) ? given : [given]) {
    const { id, type } = (typeof message === "object" && message !== null ? message : {}) as Partial<Message>;
    const hasId = (one: unknown) => id !== undefined && (one as Partial<Message>).id === id;
    if (type === "remove") list = list.filter((one) => !hasId(one));
    else if (list.some(hasId)) list = list.map((one) => (hasId(one) ? message : one));
    else list = [...list, message];
  }
  return list;
}

import { moveToBlobs } from "../events/blobs/blob-content.ts";
import type { BlobStore } from "../events/blobs/blob-store.ts";
import type { EventDraft } from "../events/define-event.ts";
import { maxEventBytes } from "../events/log/event-log.ts";
import type { Message } from "../events/message.ts";
import type { AttributedDraft } from "./steps/step-contract.ts";

/** Characters of messages that one `MessagesAdded` holds at most; more are spread over several events. */
const maxMessagesLength = maxEventBytes / 4;

const oneMessage = new Set(["ModelResponded", "ToolCallCompleted", "ToolCallFailed", "ToolCallAbandoned"]);
const manyMessages = new Set(["MessagesAdded", "MessagesReplaced"]);

function isRecord(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === "object" && value !== null;
}

async function externalizeDraft(draft: EventDraft, blobs: BlobStore): Promise<readonly EventDraft[]> {
  const { type, data } = draft;
  if (!isRecord(data)) return [draft];
  if (oneMessage.has(type) && isRecord(data.message)) {
    const message = await moveToBlobs(data.message as Message, blobs);
    return [message === data.message ? draft : { type, data: { ...data, message } }];
  }
  if (manyMessages.has(type) && Array.isArray(data.messages)) {
    const before = data.messages as readonly Message[];
    const messages = await Promise.all(before.map((message) => moveToBlobs(message, blobs)));
    const chunks = splitMessages(messages);
    if (chunks.length === 1 && messages.every((message, index) => message === before[index])) return [draft];
    return chunks.map((chunk) => ({ type, data: { ...data, messages: chunk } }));
  }
  return [draft];
}

function splitMessages(messages: readonly Message[]): (readonly Message[])[] {
  if (messages.length < 2) return [messages];
  const chunks: Message[][] = [];
  let length = Number.POSITIVE_INFINITY;
  for (const message of messages) {
    const size = JSON.stringify(message).length;
    if (length + size > maxMessagesLength) {
      chunks.push([]);
      length = 0;
    }
    chunks.at(-1)?.push(message);
    length += size;
  }
  return chunks;
}

/**
 * Brings drafts into the size that events may have: images, base64 and long texts of messages go to the blob store,
 * long lists of messages become several events. Blobs are durable before the event that names them.
 */
export async function externalize(
  drafts: readonly AttributedDraft[],
  blobs: BlobStore,
): Promise<readonly AttributedDraft[]> {
  const moved = await Promise.all(
    drafts.map(async ({ draft, by }) =>
      (await externalizeDraft(draft, blobs)).map((one) => ({ draft: one, by })),
    ),
  );
  return moved.flat();
}

import { moveToBlobs } from "../../events/blobs/blob-content.ts";
import type { BlobStore } from "../../events/blobs/blob-store.ts";
import type { Json } from "../../events/json.ts";
import type { Message } from "../../events/message.ts";
import { isObject } from "./source-thread.ts";

/** Bytes of JSON that a message may have to stand in an event as it is; a store takes twice as much. */
const maxMessageBytes = 256 * 1024;

/** A document with the content of messages that no event can hold moved to the blob store. */
export interface SlimDocument {
  readonly document: Json;
  readonly notes: readonly string[];
}

/** Moves what is too large; everything else stays as it is, so that it folds to the same values. */
export async function moveLargeMessages(document: Json, blobs: BlobStore): Promise<SlimDocument> {
  const notes = new Set<string>();
  const slimMessages = async (messages: readonly Json[]): Promise<readonly Json[]> =>
    Promise.all(
      messages.map(async (message, index) => {
        const large = isObject(message) && Buffer.byteLength(JSON.stringify(message)) > maxMessageBytes;
        if (!large || message.content === undefined || message.content === null) return message;
        notes.add(`messages.${index}: it is too large for an event, its content lies in the blob store`);
        return (await moveToBlobs(message as unknown as Message, blobs)) as unknown as Json;
      }),
    );
  const slim = async (state: Json): Promise<Json> => {
    if (!isObject(state)) return state;
    if (isObject(state.values)) return { ...state, values: await slim(state.values) };
    return Array.isArray(state.messages) ? { ...state, messages: await slimMessages(state.messages) } : state;
  };
  const slimmed = Array.isArray(document)
    ? await Promise.all(document.map((state: Json) => slim(state)))
    : await slim(document);
  return { document: notes.size === 0 ? document : slimmed, notes: [...notes] };
}

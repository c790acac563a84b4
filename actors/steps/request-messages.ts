import type { BaseMessage } from "@langchain/core/messages";
import { holdsBlobs, moveToBlobs, resolveBlobs } from "../../events/blobs/blob-content.ts";
import type { BlobStore } from "../../events/blobs/blob-store.ts";
import { canonicalJson } from "../../events/canonical-json.ts";
import { sha256 } from "../../events/hash-chain.ts";
import type { Message } from "../../events/message.ts";
import { messageDigest } from "../../projections/request-hash.ts";
import type { EditsInForce } from "../../projections/request-view.ts";
import { sharedPrefix } from "../../reducers/message-lineage.ts";
import { knownStoredForm, toLangChain, toLangChainList } from "../messages/to-langchain.ts";
import { toStored } from "../messages/to-stored.ts";
import type { EditOrigins } from "./view-edits.ts";

/** What one middleware made of the messages of a request. */
export interface MessagesLayer {
  /** `middleware:<name>` */
  readonly by: string;
  readonly messages: readonly BaseMessage[];
}

/** The messages of a request in stored form, and who changed what. */
export interface StoredRequest {
  readonly messages: readonly Message[];
  readonly origins: EditOrigins;
}

/** Id for a message that a middleware made without one: the same content has the same id, so that it compares equal. */
function contentId(instance: BaseMessage): string {
  const { id: _, ...content } = toStored(instance, () => "none");
  return sha256(canonicalJson(content)).slice(0, 32);
}

/**
 * The stored form of a request's messages. Those of the state are the state's own objects; what middlewares added is
 * converted, its large parts moved to the blob store.
 *
 * @param base messages of the model's view of the state
 * @param before edits in force: what a middleware makes anew for each call is the message it made before
 * @param layers what each middleware that changed the messages handed on, outermost first
 */
export async function storedRequest(
  base: readonly Message[],
  request: readonly BaseMessage[],
  layers: readonly MessagesLayer[],
  before: EditsInForce | undefined,
  blobs: BlobStore,
): Promise<StoredRequest> {
  const instances = toLangChainList(base);
  const unchanged: EditOrigins = { broughtBy: () => "runtime", hiddenBy: () => "runtime" };
  if (request === instances) return { messages: base, origins: unchanged };
  const end = Math.min(request.length, instances.length);
  let shared = 0;
  while (shared < end && request[shared] === instances[shared]) shared += 1;
  const sources = new Map<Message, BaseMessage>();
  const messages = base.slice(0, shared);
  const inForce = messagesInForce(before);
  for (let index = shared; index < request.length; index++) {
    const instance = request[index] as BaseMessage;
    const known = knownStoredForm(instance);
    const stored =
      known ??
      inForce(
        await moveToBlobs(
          toStored(instance, () => contentId(instance)),
          blobs,
        ),
      );
    if (!known) sources.set(stored, instance);
    messages.push(stored);
  }
  const same = messages.length === base.length && shared === base.length;
  return { messages: same ? base : messages, origins: originsOf(layers, sources) };
}

/** Gives the message of the edits in force that has the same content, or else the message itself. */
function messagesInForce(before: EditsInForce | undefined): (message: Message) => Message {
  if (!before) return (message) => message;
  const inserted = new Map<string, Message>();
  for (const { messages } of before.insertions.values()) {
    for (const message of messages) inserted.set(message.id, message);
  }
  return (message) => {
    const known = before.replacements.get(message.id)?.message ?? inserted.get(message.id);
    return known && messageDigest(known) === messageDigest(message) ? known : message;
  };
}

function originsOf(
  layers: readonly MessagesLayer[],
  sources: ReadonlyMap<Message, BaseMessage>,
): EditOrigins {
  const last = layers.at(-1)?.by ?? "runtime";
  if (layers.length < 2) return { broughtBy: () => last, hiddenBy: () => last };
  const sets = new Map<MessagesLayer, ReadonlySet<BaseMessage>>();
  const has = (layer: MessagesLayer, instance: BaseMessage): boolean => {
    const set = sets.get(layer) ?? new Set(layer.messages);
    sets.set(layer, set);
    return set.has(instance);
  };
  return {
    broughtBy(message) {
      const instance = sources.get(message) ?? toLangChain(message);
      return layers.find((layer) => has(layer, instance))?.by ?? last;
    },
    hiddenBy(message) {
      const instance = toLangChain(message);
      return layers.find((layer) => !has(layer, instance))?.by ?? last;
    },
  };
}

interface BlobPlaces {
  readonly messages: readonly Message[];
  /** Indexes of messages with content in the blob store. */
  readonly places: readonly number[];
}

// As with converted lists: the first message of a thread finds the list that was looked through last.
const lastPlaces = new WeakMap<Message, BlobPlaces>();

function blobPlaces(messages: readonly Message[]): readonly number[] {
  const [first] = messages;
  if (!first) return [];
  const before = lastPlaces.get(first);
  const earlier = before?.messages ?? [];
  const end = Math.min(earlier.length, messages.length);
  let shared = sharedPrefix(earlier, messages);
  while (shared < end && earlier[shared] === messages[shared]) shared += 1;
  const places = (before?.places ?? []).filter((place) => place < shared);
  for (let index = shared; index < messages.length; index++) {
    if (holdsBlobs(messages[index] as Message)) places.push(index);
  }
  lastPlaces.set(first, { messages, places });
  return places;
}

/** LangChain's classes for what the model is given: content that lies in the blob store is brought back. */
export async function modelMessages(
  messages: readonly Message[],
  blobs: BlobStore,
): Promise<readonly BaseMessage[]> {
  const instances = toLangChainList(messages);
  const places = blobPlaces(messages);
  if (places.length === 0) return instances;
  const whole = [...instances];
  await Promise.all(
    places.map(async (place) => {
      whole[place] = toLangChain(await resolveBlobs(messages[place] as Message, blobs));
    }),
  );
  return whole;
}

import type { BaseMessage } from "@langchain/core/messages";
import { holdsBlobs, moveToBlobs, resolveBlobs } from "../../events/blobs/blob-content.ts";
import type { BlobStore } from "../../events/blobs/blob-store.ts";
import { canonicalJson } from "../../events/canonical-json.ts";
import { sha256 } from "../../events/hash-chain.ts";
import type { Message } from "../../events/message.ts";
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
 * @param layers what each middleware that changed the messages handed on, outermost first
 */
export async function storedRequest(
  base: readonly Message[],
  request: readonly BaseMessage[],
  layers: readonly MessagesLayer[],
  blobs: BlobStore,
): Promise<StoredRequest> {
  const instances = toLangChainList(base);
  const unchanged: EditOrigins = { broughtBy: () => "runtime", hiddenBy: () => "runtime" };
  if (request === instances) return { messages: base, origins: unchanged };
  const sources = new Map<Message, BaseMessage>();
  const messages: Message[] = [];
  for (const [index, instance] of request.entries()) {
    if (instance === instances[index]) {
      messages.push(base[index] as Message);
      continue;
    }
    const known = knownStoredForm(instance);
    const stored =
      known ??
      (await moveToBlobs(
        toStored(instance, () => contentId(instance)),
        blobs,
      ));
    sources.set(stored, instance);
    messages.push(stored);
  }
  const same = messages.length === base.length && messages.every((message, at) => message === base[at]);
  return { messages: same ? base : messages, origins: originsOf(layers, sources) };
}

function originsOf(
  layers: readonly MessagesLayer[],
  sources: ReadonlyMap<Message, BaseMessage>,
): EditOrigins {
  const last = layers.at(-1)?.by ?? "runtime";
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

/** LangChain's classes for what the model is given: content that lies in the blob store is brought back. */
export async function modelMessages(
  messages: readonly Message[],
  blobs: BlobStore,
): Promise<readonly BaseMessage[]> {
  const instances = toLangChainList(messages);
  if (!messages.some(holdsBlobs)) return instances;
  return Promise.all(
    messages.map(async (message, index) =>
      holdsBlobs(message)
        ? toLangChain(await resolveBlobs(message, blobs))
        : (instances[index] as BaseMessage),
    ),
  );
}

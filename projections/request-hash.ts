import { createHash, type Hash } from "node:crypto";
import { canonicalJson } from "../events/canonical-json.ts";
import { sha256 } from "../events/hash-chain.ts";
import type { Json } from "../events/json.ts";
import type { Message } from "../events/message.ts";
import { sharedPrefix } from "../reducers/message-lineage.ts";

const digests = new WeakMap<Message, string>();

/** Lower-case hex SHA-256 of a message's canonical JSON. Computed once for each message object. */
export function messageDigest(message: Message): string {
  const known = digests.get(message);
  if (known !== undefined) return known;
  const digest = sha256(canonicalJson(message));
  digests.set(message, digest);
  return digest;
}

/** What a request is besides its messages. */
export interface RequestFacts {
  readonly model: string;
  readonly settings: Json | undefined;
  readonly toolChoice: Json | undefined;
  /** Digest of the system prompt in the blob store. */
  readonly system: string | null;
  /** Digest of the tool schemas in the blob store. */
  readonly tools: string | null;
}

/** Messages between two remembered states of the running hash. */
const stride = 16;
/** Remembered states: they reach back `stride * keptStates` messages. */
const keptStates = 8;

/** A request's messages with the states of the hash over them, for the next request to go on from. */
export interface HashedMessages {
  readonly messages: readonly Message[];
  readonly digest: string;
  readonly states: readonly { readonly count: number; readonly hash: Hash }[];
}

function commonMessages(a: readonly Message[], b: readonly Message[]): number {
  const end = Math.min(a.length, b.length);
  let count = sharedPrefix(a, b);
  while (count < end) {
    const left = a[count] as Message;
    const right = b[count] as Message;
    if (left !== right && messageDigest(left) !== messageDigest(right)) break;
    count += 1;
  }
  return count;
}

/**
 * Digest of a list of messages: SHA-256 over their digests. With the request before it only what differs is hashed.
 */
export function hashMessages(
  messages: readonly Message[],
  before: HashedMessages | undefined,
): HashedMessages {
  const shared = before ? commonMessages(before.messages, messages) : 0;
  const states = (before?.states ?? []).filter(({ count }) => count <= shared);
  const start = states.at(-1);
  const hash = start ? start.hash.copy() : createHash("sha256");
  for (let index = start?.count ?? 0; index < messages.length; index++) {
    if (index > (start?.count ?? 0) && index % stride === 0) states.push({ count: index, hash: hash.copy() });
    hash.update(messageDigest(messages[index] as Message));
  }
  return { messages, digest: hash.digest("hex"), states: states.slice(-keptStates) };
}

/**
 * Hash of a request: SHA-256 of the canonical JSON of its model, settings, tool choice, and the digests of its system
 * prompt, tools and messages.
 */
export function requestHash(facts: RequestFacts, messagesDigest: string): string {
  const { model, settings = null, toolChoice = null, system, tools } = facts;
  return sha256(canonicalJson({ model, settings, toolChoice, system, tools, messages: messagesDigest }));
}

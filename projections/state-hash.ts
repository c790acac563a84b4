import { canonicalJson } from "../events/canonical-json.ts";
import { chainStart, sha256 } from "../events/hash-chain.ts";
import type { Message } from "../events/message.ts";
import { lineageOf, type MessageLineage } from "../reducers/message-lineage.ts";
import type { State } from "../reducers/thread-state.ts";

type Messages = readonly Message[];

/** Hashes states. What was hashed before costs nothing again: after an append only the new messages are hashed. */
export interface StateHasher {
  /**
   * Lower-case hex SHA-256 of a state; it follows from the content alone.
   * @throws {NotJsonError} when the state holds something without a JSON form
   */
  hash(state: State): string;
}

/** `chain[n]` is the digest of the first n messages. */
type Chain = string[];

function holdsNothing(value: unknown): boolean {
  if (typeof value !== "object" || value === null) return value === undefined;
  if (Array.isArray(value)) return value.length === 0;
  for (const _ in value) return false;
  return true;
}

function isMessages(field: string, value: unknown): value is Messages {
  return field === "messages" && Array.isArray(value);
}

/**
 * Makes a hasher with its own memory of digests.
 *
 * The hash covers the canonical JSON of `{ field: digest }`. A field that holds nothing (undefined, an empty list or
 * map) does not count, so that reducers of more fields give the same hash. The digest of the messages is a chain,
 * `h(n) = sha256(h(n - 1) + digest(message n))`, so that it grows with the thread instead of starting again.
 *
 * @example
 * const hasher = createStateHasher();
 * hasher.hash(state) === hasher.hash(JSON.parse(JSON.stringify(state))); // true
 */
export function createStateHasher(): StateHasher {
  const digests = new WeakMap<object, string>();
  const chains = new WeakMap<MessageLineage, Chain>();

  const digestOf = (value: unknown): string => {
    if (typeof value !== "object" || value === null) return sha256(canonicalJson(value));
    const known = digests.get(value);
    if (known !== undefined) return known;
    const digest = sha256(canonicalJson(value));
    digests.set(value, digest);
    return digest;
  };

  const inherited = (lineage: MessageLineage): Chain => {
    let shared = lineage.shared;
    for (let ancestor = lineage.parent; ancestor; ancestor = ancestor.parent) {
      const chain = chains.get(ancestor);
      if (chain) return chain.slice(0, shared + 1);
      shared = Math.min(shared, ancestor.shared);
    }
    return [chainStart];
  };

  const chainFor = (messages: Messages): Chain => {
    const lineage = lineageOf(messages);
    if (!lineage) return [chainStart];
    const chain = chains.get(lineage) ?? inherited(lineage);
    chains.set(lineage, chain);
    return chain;
  };

  const messagesDigest = (messages: Messages): string => {
    const chain = chainFor(messages);
    for (let count = chain.length; count <= messages.length; count++) {
      chain.push(sha256(`${chain[count - 1]}${digestOf(messages[count - 1])}`));
    }
    return chain[messages.length] ?? chainStart;
  };

  return {
    hash(state) {
      const parts = Object.entries(state)
        .filter(([, value]) => !holdsNothing(value))
        .map(([field, value]) => [field, isMessages(field, value) ? messagesDigest(value) : digestOf(value)]);
      return sha256(canonicalJson(Object.fromEntries(parts)));
    },
  };
}

/**
 * Lower-case hex SHA-256 of one state. For many states of a growing thread keep a `createStateHasher()`.
 *
 * @throws {NotJsonError}
 * @example
 * stateHash(reducer.fold(events)) === recorded.stateHash; // the refold proves itself
 */
export function stateHash(state: State): string {
  return createStateHasher().hash(state);
}

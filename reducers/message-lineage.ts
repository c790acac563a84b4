import type { Message } from "../events/message.ts";
import { sameJson } from "./same-json.ts";

type Messages = readonly Message[];

/**
 * Lists of one lineage are beginnings of one another: only appends lie between them. A change inside a list starts a
 * new lineage that shares its first `shared` messages with the parent.
 */
export interface MessageLineage {
  parent: MessageLineage | undefined;
  readonly shared: number;
}

/** Ancestors that are remembered; older ones only cost time when they are asked for. */
const maxAncestors = 16;

// Beside the lists and not in them: state stays plain JSON, and a list that nobody holds takes its entry along.
const lineages = new WeakMap<Messages, MessageLineage>();

/** The lineage of a list that a reducer made; undefined for lists from elsewhere. */
export function lineageOf(messages: Messages): MessageLineage | undefined {
  return lineages.get(messages);
}

export function setLineage(messages: Messages, lineage: MessageLineage): void {
  lineages.set(messages, lineage);
}

/** A lineage that leaves `parent` after its first `shared` messages. */
export function branchLineage(parent: MessageLineage | undefined, shared: number): MessageLineage {
  let ancestor = parent;
  for (let distance = 1; ancestor && distance < maxAncestors; distance++) ancestor = ancestor.parent;
  if (ancestor) ancestor.parent = undefined;
  return { parent, shared };
}

function sharedFrom(child: MessageLineage | undefined, ancestor: MessageLineage | undefined): number {
  if (!child || !ancestor) return 0;
  let shared = Number.POSITIVE_INFINITY;
  for (let lineage: MessageLineage | undefined = child; lineage; lineage = lineage.parent) {
    if (lineage === ancestor) return shared;
    shared = Math.min(shared, lineage.shared);
  }
  return 0;
}

/**
 * Number of leading messages that two lists share as objects, as far as their lineages tell: at least so many are the
 * same. Takes constant time.
 */
export function sharedPrefix(a: Messages, b: Messages): number {
  const left = lineages.get(a);
  const right = lineages.get(b);
  return Math.min(a.length, b.length, Math.max(sharedFrom(left, right), sharedFrom(right, left)));
}

/**
 * Number of leading messages that two lists have in common. Takes constant time when one list was made from the other
 * by appending.
 *
 * @example
 * commonPrefix(before.messages, after.messages); // before.messages.length when messages were only added
 */
export function commonPrefix(a: Messages, b: Messages): number {
  const end = Math.min(a.length, b.length);
  let count = sharedPrefix(a, b);
  while (count < end && sameJson(a[count], b[count])) count += 1;
  return count;
}

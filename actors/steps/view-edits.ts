import { sha256 } from "../../events/hash-chain.ts";
import type { Message } from "../../events/message.ts";
import type { ViewEdit } from "../../events/model.ts";
import { messageDigest } from "../../projections/request-hash.ts";
import {
  type EditsInForce,
  foldEdits,
  type Insertion,
  noEdits,
  type Replacement,
  showMessages,
} from "../../projections/request-view.ts";

type Messages = readonly Message[];

/** Names who changed what between the messages of the state and those of the request. */
export interface EditOrigins {
  /** Who brought this message into the request. */
  broughtBy(message: Message): string;
  /** Who left this message of the state out. */
  hiddenBy(message: Message): string;
}

/**
 * The edits that make the messages of a request out of those of the state.
 *
 * Messages are told apart by their ids. What stands in another order than in the state is shown as an insertion; a
 * longest run of messages in order stays as it is, so that a moved message costs one insertion.
 */
export function editsBetween(base: Messages, request: Messages, origins: EditOrigins): EditsInForce {
  if (base === request) return noEdits;
  const edits = collectEdits(base, request, origins);
  return isExact(base, request, edits) ? edits : everythingAnew(base, request, origins);
}

function collectEdits(base: Messages, request: Messages, origins: EditOrigins): EditsInForce {
  const end = Math.min(base.length, request.length);
  let start = 0;
  while (start < end && base[start] === request[start]) start += 1;
  let tail = 0;
  while (tail < end - start && base.at(-1 - tail) === request.at(-1 - tail)) tail += 1;

  const own = base.slice(start, base.length - tail);
  const wanted = request.slice(start, request.length - tail);
  const places = new Map(own.map(({ id }, index) => [id, index]));
  const kept = longestInOrder(wanted.map(({ id }) => places.get(id)));

  const insertions = new InsertionList();
  const replacements = new Map<string, Replacement>();
  const hidden = new Map<string, string>();
  let anchor = start > 0 ? (base[start - 1]?.id ?? null) : null;
  let next = 0;
  const hideUpTo = (index: number) => {
    for (const message of own.slice(next, index)) hidden.set(message.id, origins.hiddenBy(message));
    next = index + 1;
  };
  wanted.forEach((message, at) => {
    const place = kept.has(at) ? places.get(message.id) : undefined;
    const original = place === undefined ? undefined : own[place];
    if (place === undefined || !original) {
      insertions.add(anchor, message, origins.broughtBy(message));
      return;
    }
    hideUpTo(place);
    anchor = message.id;
    const digest = messageDigest(message);
    if (original === message || digest === messageDigest(original)) return;
    replacements.set(message.id, { message, digest, by: origins.broughtBy(message) });
  });
  hideUpTo(own.length);
  return { insertions: insertions.byKey(), replacements, hidden };
}

/** Insertions as they are collected: neighbours of one origin become one. */
class InsertionList {
  private readonly groups: { after: string | null; messages: Message[]; by: string }[] = [];

  add(after: string | null, message: Message, by: string): void {
    const last = this.groups.at(-1);
    if (last && last.after === after && last.by === by) last.messages.push(message);
    else this.groups.push({ after, messages: [message], by });
  }

  byKey(): Map<string, Insertion> {
    const counts = new Map<string | null, number>();
    return new Map(
      this.groups.map(({ after, messages, by }) => {
        const count = counts.get(after) ?? 0;
        counts.set(after, count + 1);
        const digest = sha256(messages.map(messageDigest).join(""));
        return [`${after ?? ""}#${count}`, { after, messages, digest, by }];
      }),
    );
  }
}

/** Indexes of a longest increasing run among the numbers of a list. */
function longestInOrder(places: readonly (number | undefined)[]): Set<number> {
  const ends: number[] = [];
  const before: (number | undefined)[] = [];
  places.forEach((place, at) => {
    if (place === undefined) return;
    let low = 0;
    let high = ends.length;
    while (low < high) {
      const middle = (low + high) >> 1;
      if ((places[ends[middle] ?? 0] ?? 0) < place) low = middle + 1;
      else high = middle;
    }
    before[at] = ends[low - 1];
    ends[low] = at;
  });
  const kept = new Set<number>();
  for (let at = ends.at(-1); at !== undefined; at = before[at]) kept.add(at);
  return kept;
}

/** Ids that stand twice make edits by id ambiguous, so the result is looked at before it is believed. */
function isExact(base: Messages, request: Messages, edits: EditsInForce): boolean {
  const shown = showMessages(base, edits);
  return (
    shown.length === request.length &&
    shown.every(({ message }, index) => {
      const wanted = request[index] as Message;
      return message === wanted || messageDigest(message) === messageDigest(wanted);
    })
  );
}

function everythingAnew(base: Messages, request: Messages, origins: EditOrigins): EditsInForce {
  const insertions = new InsertionList();
  for (const message of request) insertions.add(null, message, origins.broughtBy(message));
  return {
    insertions: insertions.byKey(),
    replacements: new Map(),
    hidden: new Map(base.map((message) => [message.id, origins.hiddenBy(message)])),
  };
}

/** The edits to record so that `target` is in force after `before`. */
export function editsToReach(before: EditsInForce, target: EditsInForce): ViewEdit[] {
  const edits: ViewEdit[] = [...insertionEdits(before, target)];
  const restored = [...before.hidden.keys(), ...before.replacements.keys()].filter(
    (id) => !target.hidden.has(id) && !target.replacements.has(id),
  );
  if (restored.length > 0) edits.push({ op: "restore", ids: restored, by: "runtime" });
  for (const [id, { message, digest, by }] of target.replacements) {
    const old = before.replacements.get(id);
    if (old?.digest !== digest || old.by !== by) edits.push({ op: "replace", id, message, digest, by });
  }
  const hidden = new Map<string, string[]>();
  for (const [id, by] of target.hidden) {
    if (before.hidden.get(id) !== by) hidden.set(by, [...(hidden.get(by) ?? []), id]);
  }
  for (const [by, ids] of hidden) edits.push({ op: "hide", ids, by });
  return edits;
}

function insertionEdits(before: EditsInForce, target: EditsInForce): ViewEdit[] {
  const old = byAnchor(before);
  const wanted = byAnchor(target);
  const edits: ViewEdit[] = [];
  for (const [anchor, group] of old) {
    const now = wanted.get(anchor);
    const same =
      now?.length === group.length &&
      now.every(({ digest, by }, at) => digest === group[at]?.digest && by === group[at]?.by);
    if (same) wanted.delete(anchor);
    else edits.push(...group.map(({ key }) => ({ op: "drop" as const, key, by: "runtime" })));
  }
  for (const group of wanted.values()) {
    for (const { key, after, messages, digest, by } of group) {
      edits.push({ op: "insert", key, after, messages, digest, by });
    }
  }
  return edits;
}

type Keyed = Insertion & { readonly key: string };

function byAnchor({ insertions }: EditsInForce): Map<string | null, Keyed[]> {
  const groups = new Map<string | null, Keyed[]>();
  for (const [key, insertion] of insertions) {
    groups.set(insertion.after, [...(groups.get(insertion.after) ?? []), { key, ...insertion }]);
  }
  return groups;
}

/** What a call records of its view. */
export interface RecordedEdits {
  /** False: the edits stand alone, whatever was in force before. */
  readonly continues: boolean;
  readonly edits: readonly ViewEdit[];
  readonly inForce: EditsInForce;
}

/** The shorter of two ways to record a view: what is new since the call before, or all of it. */
export function recordEdits(before: EditsInForce | undefined, target: EditsInForce): RecordedEdits {
  const whole = editsToReach(noEdits, target);
  if (before && whole.length > 0) {
    const edits = editsToReach(before, target);
    if (isLonger(whole, JSON.stringify(edits).length)) {
      return { continues: true, edits, inForce: foldEdits(before, edits) };
    }
  }
  return { continues: false, edits: whole, inForce: foldEdits(noEdits, whole) };
}

/** Looks only as far as it has to: all the edits in force may be many. */
function isLonger(edits: readonly ViewEdit[], length: number): boolean {
  let sum = 2;
  for (const edit of edits) {
    sum += JSON.stringify(edit).length + 1;
    if (sum > length) return true;
  }
  return false;
}

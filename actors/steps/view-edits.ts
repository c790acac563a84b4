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
 *
 * @param uniqueIds whether no id stands in `base` twice; otherwise edits by id may be ambiguous, and are tried before they are
 * believed
 */
export function editsBetween(
  base: Messages,
  request: Messages,
  origins: EditOrigins,
  uniqueIds: () => boolean,
): EditsInForce {
  if (base === request) return noEdits;
  const changed = changedPart(base, request);
  const edits = walk(changed, origins) ?? walk(changed, origins, longestInOrder(changed));
  if (edits && (uniqueIds() || isExact(base, request, edits))) return edits;
  return everythingAnew(base, request, origins);
}

/** Where two lists differ, without what they have in common at both ends. */
interface ChangedPart {
  /** Id of the message before it. */
  readonly anchor: string | null;
  readonly own: Messages;
  readonly wanted: Messages;
  /** Places of the ids in `own`, looked up only where the lists part. */
  readonly placeOf: (id: string) => number | undefined;
}

function changedPart(base: Messages, request: Messages): ChangedPart {
  const end = Math.min(base.length, request.length);
  let start = 0;
  while (start < end && base[start] === request[start]) start += 1;
  let tail = 0;
  while (tail < end - start && base[base.length - 1 - tail] === request[request.length - 1 - tail]) {
    tail += 1;
  }
  const own = base.slice(start, base.length - tail);
  let places: Map<string, number> | undefined;
  return {
    anchor: start > 0 ? (base[start - 1]?.id ?? null) : null,
    own,
    wanted: request.slice(start, request.length - tail),
    placeOf(id) {
      places ??= new Map(own.map((message, index) => [message.id, index]));
      return places.get(id);
    },
  };
}

/** Messages that are looked at one after the other before an index of all is made. */
const lookahead = 16;

/**
 * Goes through both lists at once.
 *
 * @param kept indexes of `wanted` that stay as they are in `own`; left out: all that are there
 * @returns undefined when the messages that are there stand in another order
 */
function walk(part: ChangedPart, origins: EditOrigins, kept?: ReadonlySet<number>): EditsInForce | undefined {
  const { own, wanted, placeOf } = part;
  const insertions = new InsertionList();
  const replacements = new Map<string, Replacement>();
  const hidden = new Map<string, string>();
  let anchor = part.anchor;
  let next = 0;
  const find = (message: Message, at: number): number | undefined => {
    if (kept && !kept.has(at)) return undefined;
    for (let place = next; place < own.length && place < next + lookahead; place++) {
      if (own[place] === message) return place;
    }
    return placeOf(message.id);
  };
  const hideUpTo = (place: number) => {
    for (; next < place; next++) {
      const message = own[next] as Message;
      hidden.set(message.id, origins.hiddenBy(message));
    }
  };
  for (const [at, message] of wanted.entries()) {
    const place = find(message, at);
    if (place === undefined) {
      insertions.add(anchor, message, origins.broughtBy(message));
      continue;
    }
    if (place < next) return undefined;
    hideUpTo(place);
    next = place + 1;
    anchor = message.id;
    const original = own[place] as Message;
    if (original === message) continue;
    const digest = messageDigest(message);
    if (digest === messageDigest(original)) continue;
    replacements.set(message.id, { message, digest, by: origins.broughtBy(message) });
  }
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

/** Indexes of a longest run of wanted messages that stand in the order of their own list. */
function longestInOrder({ wanted, placeOf }: ChangedPart): Set<number> {
  const places = wanted.map(({ id }) => placeOf(id));
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

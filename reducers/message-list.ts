import type { Message } from "../events/message.ts";
import { branchLineage, lineageOf, setLineage } from "./message-lineage.ts";
import { sameJson } from "./same-json.ts";

type Messages = readonly Message[];

/** A message was to be removed or replaced that is not in the list. */
export class UnknownMessageError extends Error {
  override readonly name = "UnknownMessageError";
  constructor(readonly id: string) {
    super(`There is no message "${id}" in the thread. It may have been removed; read the state again.`);
  }
}

/** Where to find messages in one list. */
interface MessageIndex {
  /** Message id to its (last) place. */
  readonly positions: Map<string, number>;
  /** Tool call id to the ids of the messages that made such a call at some time, mostly one. */
  readonly callers: Map<string, readonly string[]>;
  /** An id stands in the list twice: only logs and edits from outside can bring that. */
  duplicates: boolean;
}

/**
 * The index belongs to the newest list of a lineage and moves on when that is extended, so that an append does not
 * index the whole list again. An older list that is extended a second time gets an index and a lineage of its own.
 */
const indexes = new WeakMap<Messages, MessageIndex>();

function note(index: MessageIndex, message: Message, position: number): void {
  index.positions.set(message.id, position);
  const calls = message.tool_calls;
  if (!calls || calls.length === 0) return;
  for (const { id } of calls) {
    if (id == null) continue;
    const callers = index.callers.get(id);
    if (!callers?.includes(message.id))
      index.callers.set(id, callers ? [...callers, message.id] : [message.id]);
  }
}

function indexFor(messages: Messages): MessageIndex {
  const known = indexes.get(messages);
  if (known) return known;
  const index: MessageIndex = { positions: new Map(), callers: new Map(), duplicates: false };
  for (const [position, message] of messages.entries()) note(index, message, position);
  index.duplicates = index.positions.size < messages.length;
  indexes.set(messages, index);
  const parent = messages.length === 0 ? undefined : lineageOf(messages);
  setLineage(messages, branchLineage(parent, messages.length));
  return index;
}

/** Place of a message in a list, or undefined. */
export function messagePosition(messages: Messages, id: string): number | undefined {
  return indexFor(messages).positions.get(id);
}

/** True when a message of the list makes (or made) a tool call of this id. */
export function knowsToolCall(messages: Messages, callId: string): boolean {
  return indexFor(messages).callers.has(callId);
}

/** True when no id stands in the list twice. */
export function hasUniqueIds(messages: Messages): boolean {
  return !indexFor(messages).duplicates;
}

/** A list of messages while it changes. All changes take time in proportion to themselves. */
export interface MessageList {
  /** Appends; a message whose id is in the list takes the place of the old one. */
  add(messages: Messages): void;
  /** @throws {UnknownMessageError} and then changes nothing */
  replace(messages: Messages): void;
  /** @throws {UnknownMessageError} and then changes nothing */
  remove(ids: readonly string[]): void;
  clear(): void;
  /** Puts a tool's result behind its call, in the order of the calls, whichever tool finished first. */
  place(result: Message): void;
  /** The list as it is now; the list it began with when nothing changed. */
  value(): Messages;
}

/** Starts to change `initial`, which itself stays as it is. Copies it once, when the new list is asked for. */
export function changeMessages(initial: Messages): MessageList {
  let base = initial;
  let index = indexFor(base);
  let lineage = lineageOf(base);
  let owned = false;
  /** What was appended, as long as nothing else has changed: most changes are appends. */
  let tail: Message[] = [];
  /** The whole list, once something inside has changed; removed messages leave holes. */
  let list: (Message | undefined)[] | undefined;
  let firstChange = 0;
  let holes = 0;

  const own = () => {
    if (owned) return;
    owned = true;
    index = indexFor(base);
    indexes.delete(base);
    lineage = lineageOf(base);
    firstChange = base.length;
    holes = 0;
  };
  const inside = (position: number): (Message | undefined)[] => {
    own();
    list ??= base.concat(tail);
    tail = [];
    firstChange = Math.min(firstChange, position);
    return list;
  };
  const length = () => (list ? list.length : base.length + tail.length);
  const messageAt = (position: number): Message | undefined => {
    if (list) return list[position];
    return position < base.length ? base[position] : tail[position - base.length];
  };
  const find = (id: string): number | undefined => {
    // Until this list owns the index, another one may have taken it along.
    if (!owned) index = indexFor(base);
    return index.positions.get(id);
  };
  const known = (id: string): number => {
    const position = find(id);
    if (position === undefined) throw new UnknownMessageError(id);
    return position;
  };
  const append = (message: Message) => {
    own();
    note(index, message, length());
    (list ?? tail).push(message);
  };
  const put = (message: Message, position: number) => {
    if (sameJson(messageAt(position), message)) return;
    inside(position)[position] = message;
    note(index, message, position);
  };
  const insert = (message: Message, position: number) => {
    const all = inside(position);
    all.splice(position, 0, message);
    for (let at = position; at < all.length; at++) {
      const moved = all[at];
      if (moved) note(index, moved, at);
    }
  };
  const add = (message: Message) => {
    const position = find(message.id);
    if (position === undefined) append(message);
    else put(message, position);
  };
  const removeAt = (position: number) => {
    inside(position)[position] = undefined;
    holes += 1;
  };

  return {
    add(messages) {
      for (const message of messages) add(message);
    },
    replace(messages) {
      for (const { id } of messages) known(id);
      for (const message of messages) put(message, known(message.id));
    },
    remove(ids) {
      const positions = new Set(ids.map(known));
      if (index.duplicates) {
        const gone = new Set(ids);
        for (let at = 0; at < length(); at++) if (gone.has(messageAt(at)?.id ?? "")) positions.add(at);
      }
      for (const position of positions) removeAt(position);
      for (const id of ids) index.positions.delete(id);
    },
    clear() {
      if (length() === 0) return;
      own();
      list = [];
      tail = [];
      index = { positions: new Map(), callers: new Map(), duplicates: false };
      firstChange = 0;
      holes = 0;
    },
    place(result) {
      if (find(result.id) !== undefined) return add(result);
      const position = placeFor(messageAt, length(), index, result);
      if (position === undefined) append(result);
      else insert(result, position);
    },
    value() {
      if (!owned) return base;
      const whole = list ?? (base.length === 0 ? tail : base.concat(tail));
      const value = holes === 0 ? (whole as Message[]) : whole.filter((message) => message !== undefined);
      setLineage(
        value,
        lineage && firstChange >= base.length ? lineage : branchLineage(lineage, firstChange),
      );
      // Holes have moved the messages behind them: the next user of the list makes a new index.
      if (holes === 0) indexes.set(value, index);
      base = value;
      list = undefined;
      tail = [];
      owned = false;
      return value;
    },
  };
}

/** Where a tool's result belongs among the results of its assistant message; undefined: at the end. */
function placeFor(
  messageAt: (position: number) => Message | undefined,
  length: number,
  index: MessageIndex,
  result: Message,
): number | undefined {
  const callId = result.tool_call_id;
  if (callId === undefined) return undefined;
  // The last message that makes the call now: what the list looks like counts, not how it came about.
  let callerPosition = -1;
  for (const id of index.callers.get(callId) ?? []) {
    const position = index.positions.get(id) ?? -1;
    const makesCall = messageAt(position)?.tool_calls?.some((call) => call.id === callId);
    if (position > callerPosition && makesCall) callerPosition = position;
  }
  if (callerPosition === -1) return undefined;
  const calls = messageAt(callerPosition)?.tool_calls ?? [];
  const order = calls.findIndex((call) => call.id === callId);
  let position = callerPosition + 1;
  for (; position < length; position++) {
    const message = messageAt(position);
    if (!message) continue;
    if (message.type !== "tool") break;
    const other = calls.findIndex((call) => call.id === message.tool_call_id);
    if (other === -1 || other > order) break;
  }
  return position === length ? undefined : position;
}

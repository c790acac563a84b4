import type { Message } from "../events/message.ts";
import type { ViewEdit } from "../events/model.ts";

type Messages = readonly Message[];

/** Messages that stand in requests and not in the thread. */
export interface Insertion {
  readonly after: string | null;
  readonly messages: Messages;
  readonly digest: string;
  readonly by: string;
}

/** Another body for a message. */
export interface Replacement {
  readonly message: Message;
  readonly digest: string;
  readonly by: string;
}

/** The edits to the messages of requests that hold after some model call. Never changed in place. */
export interface EditsInForce {
  /** By key; those after one message stand in the order of this map. */
  readonly insertions: ReadonlyMap<string, Insertion>;
  readonly replacements: ReadonlyMap<string, Replacement>;
  /** Message id to who hides it. */
  readonly hidden: ReadonlyMap<string, string>;
}

export const noEdits: EditsInForce = { insertions: new Map(), replacements: new Map(), hidden: new Map() };

/** The edits in force after a call that recorded `edits`. */
export function foldEdits(before: EditsInForce, edits: readonly ViewEdit[]): EditsInForce {
  if (edits.length === 0) return before;
  const insertions = new Map(before.insertions);
  const replacements = new Map(before.replacements);
  const hidden = new Map(before.hidden);
  for (const edit of edits) {
    switch (edit.op) {
      case "insert": {
        const { key, after, messages, digest, by } = edit;
        insertions.delete(key);
        insertions.set(key, { after, messages, digest, by });
        break;
      }
      case "replace":
        hidden.delete(edit.id);
        replacements.set(edit.id, { message: edit.message, digest: edit.digest, by: edit.by });
        break;
      case "hide":
        for (const id of edit.ids) {
          replacements.delete(id);
          hidden.set(id, edit.by);
        }
        break;
      case "restore":
        for (const id of edit.ids) {
          replacements.delete(id);
          hidden.delete(id);
        }
        break;
      case "drop":
        insertions.delete(edit.key);
        break;
      default:
        edit satisfies never;
    }
  }
  return { insertions, replacements, hidden };
}

/** One message of a request, and who put it there; `by` is undefined for messages that stand in the thread. */
export interface ShownMessage {
  readonly message: Message;
  readonly by: string | undefined;
  /** How it differs from the thread's list. */
  readonly edit: "inserted" | "replaced" | undefined;
}

/**
 * The messages of a request: those of the model's view of the state, with the edits in force.
 *
 * @example
 * showMessages(modelView(state), foldEdits(noEdits, view.edits)).map(({ message }) => message);
 */
export function showMessages(base: Messages, edits: EditsInForce): ShownMessage[] {
  const after = new Map<string | null, Insertion[]>();
  for (const insertion of edits.insertions.values()) {
    after.set(insertion.after, [...(after.get(insertion.after) ?? []), insertion]);
  }
  const shown: ShownMessage[] = [];
  const insert = (anchor: string | null) => {
    for (const { messages, by } of after.get(anchor) ?? []) {
      for (const message of messages) shown.push({ message, by, edit: "inserted" });
    }
  };
  insert(null);
  for (const message of base) {
    const replacement = edits.replacements.get(message.id);
    if (replacement) shown.push({ message: replacement.message, by: replacement.by, edit: "replaced" });
    else if (!edits.hidden.has(message.id)) shown.push({ message, by: undefined, edit: undefined });
    if (after.size > 0) insert(message.id);
  }
  return shown;
}

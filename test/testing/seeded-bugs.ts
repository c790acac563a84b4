import { randomUUID } from "node:crypto";
import { z } from "zod";
import { type AnyEventDefinition, defineEvent } from "../../events/define-event.ts";
import type { FoldEvent } from "../../events/envelope.ts";
import type { ViewedImage } from "../../events/images.ts";
import type { Message } from "../../events/message.ts";
import { artifacts } from "../../reducers/artifacts.ts";
import { type AnyReducerDefinition, defineReducer } from "../../reducers/define-reducer.ts";
import { viewedImages } from "../../reducers/images.ts";
import { UnknownMessageError } from "../../reducers/message-list.ts";
import { messages } from "../../reducers/messages.ts";
import { promoted } from "../../reducers/promoted-tools.ts";
import { sandbox } from "../../reducers/sandbox.ts";
import { title } from "../../reducers/title.ts";
import { todos } from "../../reducers/todos.ts";
import type { AnyPlainReducer } from "../../testing/subject-of.ts";

/** A mistake that somebody could make in a reducer, and the law that has to find it. */
export interface SeededBug {
  readonly name: string;
  readonly reducer: AnyReducerDefinition | AnyPlainReducer;
  readonly events?: readonly AnyEventDefinition[];
  readonly law: string;
}

const NoteTaken = defineEvent({ type: "NoteTaken", schema: z.object({ text: z.string() }) });
const events = [NoteTaken];
interface NoteData {
  readonly text: string;
}
interface ImageData {
  readonly images: { readonly [path: string]: ViewedImage };
}

/** A built-in reducer in which the handler of one event was changed. `accumulate` would hide it in bulk. */
function changed(
  definition: AnyReducerDefinition,
  type: string,
  handler: (value: never, data: never, event: FoldEvent<never>) => unknown,
): AnyReducerDefinition {
  return { ...definition, accumulate: undefined, on: { ...definition.on, [type]: handler as never } };
}

/** Mistakes in built-in fields, and the same kinds of mistakes in reducers of one's own that claim an algebra. */
export const seededBugs: readonly SeededBug[] = [
  {
    name: "in-place merge",
    law: "total",
    reducer: changed(viewedImages, "ImagesViewed", (images: Record<string, ViewedImage>, data: ImageData) =>
      Object.assign(images, data.images),
    ),
  },
  {
    name: "empty map clears images",
    law: "empty-is-no-op",
    reducer: changed(viewedImages, "ImagesViewed", (images: object, data: ImageData) =>
      Object.keys(data.images).length === 0
        ? {}
        : Object.fromEntries([...Object.entries(images), ...Object.entries(data.images)]),
    ),
  },
  {
    name: "artifacts overwritten by a parallel call",
    law: "grows-only",
    reducer: changed(
      artifacts,
      "ArtifactsPresented",
      (_paths: unknown, data: { paths: string[] }) => data.paths,
    ),
  },
  {
    name: "a Set in state",
    law: "json-closed",
    reducer: defineReducer<ReadonlySet<string>>({
      field: "notes",
      initial: new Set(),
      on: { NoteTaken: (notes: ReadonlySet<string>, { text }: NoteData) => new Set([...notes, text]) },
    }),
    events,
  },
  {
    name: "promoted names kept across a catalogue change",
    law: "scoped",
    reducer: changed(
      promoted,
      "ToolsPromoted",
      (before: { names: string[] } | undefined, data: { catalogHash: string; names: string[] }) => ({
        catalog_hash: data.catalogHash,
        names: [...new Set([...(before?.names ?? []), ...data.names])],
      }),
    ),
  },
  {
    name: "title rewritten after it was set",
    law: "as-original",
    reducer: changed(title, "TitleSet", (_title: unknown, data: { title: string | null }) => data.title),
  },
  {
    name: "sandbox conflict picked silently",
    law: "conflict-refused",
    reducer: changed(sandbox, "SandboxBound", (current: unknown, data: unknown) => current ?? data),
  },
  {
    name: "removal of an unknown message ignored",
    law: "as-original",
    reducer: changed(
      messages,
      "MessagesRemoved",
      (list: readonly Message[], data: never, event: FoldEvent<never>) => {
        try {
          return messages.on.MessagesRemoved?.(list, data, event);
        } catch (error) {
          if (error instanceof UnknownMessageError) return list;
          throw error;
        }
      },
    ),
  },
  {
    name: "todo patch merged instead of replaced",
    law: "last-value-wins",
    reducer: changed(
      todos,
      "TodosWritten",
      (list: readonly object[] | undefined, data: { todos: readonly object[] }) => {
        const merged = (list ?? []).map((todo, at) => ({ ...todo, ...data.todos[at] }));
        return [...merged, ...data.todos.slice(merged.length)];
      },
    ),
  },
  {
    name: "id minted in a reducer",
    law: "pure",
    reducer: defineReducer<readonly { id: string; text: string }[]>({
      field: "notes",
      initial: [],
      on: {
        NoteTaken: (notes: readonly { id: string; text: string }[], { text }: NoteData) => [
          ...notes,
          { id: randomUUID(), text },
        ],
      },
    }),
    events,
  },
  {
    name: "clock read in a reducer",
    law: "pure",
    reducer: defineReducer<{ text: string; at: number } | undefined>({
      field: "note",
      initial: undefined,
      on: { NoteTaken: (_note: unknown, { text }: NoteData) => ({ text, at: Date.now() }) },
    }),
    events,
  },
  {
    name: "unknown event throws",
    law: "unknown-event",
    reducer: {
      name: "notes",
      initial: [],
      reduce(notes: readonly string[], event: FoldEvent) {
        if (event.type === "NoteTaken") return [...notes, (event.data as NoteData).text];
        throw new Error(`I do not know ${event.type}`);
      },
    },
    events,
  },
  {
    name: "a value that was written once is written again",
    law: "first-value-stays",
    reducer: defineReducer<string | undefined>({
      field: "first_note",
      initial: undefined,
      algebra: "write-once",
      on: { NoteTaken: (_note: unknown, { text }: NoteData) => text },
    }),
    events,
  },
  {
    name: "a sandbox of one's own that is picked silently",
    law: "conflict-refused",
    reducer: defineReducer<string | undefined>({
      field: "owner",
      initial: undefined,
      algebra: "fail-closed",
      on: { NoteTaken: (owner: string | undefined, { text }: NoteData) => owner ?? text },
    }),
    events,
  },
  {
    name: "the order of parallel calls decides what stays",
    law: "keyed",
    reducer: changed(viewedImages, "ImagesViewed", (_images: unknown, data: ImageData) => data.images),
  },
  {
    name: "an entry moves when it is written again",
    law: "sequence-order",
    reducer: changed(
      messages,
      "MessagesAdded",
      (list: readonly Message[], data: { messages: readonly Message[] }) => {
        const ids = new Set(data.messages.map(({ id }) => id));
        const last = [...new Map(data.messages.map((message) => [message.id, message])).values()];
        return [...list.filter(({ id }) => !ids.has(id)), ...last];
      },
    ),
  },
  {
    name: "a fold in bulk that forgets what was there",
    law: "bulk",
    reducer: {
      ...artifacts,
      accumulate: () => {
        let paths: readonly string[] = [];
        return {
          apply: (event: FoldEvent) => {
            paths = [...new Set([...paths, ...(event.data as { paths: string[] }).paths])].reverse();
          },
          value: () => paths,
        };
      },
    },
  },
  {
    name: "a value kept beside the state",
    law: "threads-apart",
    reducer: (() => {
      let last = "";
      return defineReducer<string>({
        field: "previous_note",
        initial: "",
        on: {
          NoteTaken(note: string, { text }: NoteData, event) {
            const previous = event.version === 1 ? note : last;
            last = text;
            return previous;
          },
        },
      });
    })(),
    events,
  },
  {
    name: "a name like __proto__ is lost",
    law: "as-original",
    reducer: changed(viewedImages, "ImagesViewed", (images: object, data: ImageData) => {
      const next: Record<string, unknown> = { ...images };
      for (const [path, image] of Object.entries(data.images)) next[path] = image;
      return next;
    }),
  },
];

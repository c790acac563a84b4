import type { FoldEvent } from "../../events/envelope.ts";
import { messagesModel } from "./messages-model.ts";
import { ReferenceRefusal } from "./reference-refusal.ts";

/** What one event makes of a field, written down as plainly as possible and without a look at the reducers. */
export type FieldModel = (value: unknown, event: FoldEvent<never>) => unknown;

type Data = Readonly<Record<string, unknown>>;

function model(handlers: Readonly<Record<string, (value: never, data: never) => unknown>>): FieldModel {
  return (value, { type, data }) =>
    Object.hasOwn(handlers, type) ? handlers[type]?.(value as never, data as never) : value;
}

function sandboxId(value: unknown): unknown {
  return (value as Data | null | undefined)?.sandbox_id ?? null;
}

/** The semantics of the original system's state, field by field, as its users know them. */
export const fieldModels: Readonly<Record<string, FieldModel>> = {
  messages: messagesModel,
  summary_text: model({ HistoryCompacted: (_value, { summary }: Data) => summary }),
  structured_response: model({ StructuredResponseProduced: (_value, { value }: Data) => value }),
  thread_data: model({ ThreadDataBound: (_value, data: Data) => data }),
  todos: model({ TodosWritten: (_value, { todos }: Data) => todos }),
  uploaded_files: model({ FilesUploaded: (_value, { files }: Data) => files }),
  goal: model({ GoalSet: (_value, { goal }: Data) => goal }),
  artifacts: model({
    ArtifactsPresented: (value: readonly string[], { paths }: { paths: readonly string[] }) =>
      [...value, ...paths].filter((path, at, all) => all.indexOf(path) === at),
  }),
  viewed_images: model({
    ImagesViewed: (value: Data, { images }: { images: Data }) =>
      Object.fromEntries([...Object.entries(value), ...Object.entries(images)]),
    ImagesCleared: () => ({}),
  }),
  promoted: model({
    ToolsPromoted(
      value: { catalog_hash: string; names: readonly string[] } | undefined,
      { catalogHash, names }: { catalogHash: string; names: readonly string[] },
    ) {
      const kept = value?.catalog_hash === catalogHash ? value.names : [];
      const all = [...kept, ...names].filter((name, at, list) => list.indexOf(name) === at);
      return { catalog_hash: catalogHash, names: all };
    },
  }),
  title: model({
    TitleSet(value: string | null | undefined, { title, origin }: { title: string | null; origin: string }) {
      const taken = value !== undefined && value !== null && value !== "";
      return taken && origin !== "user" ? value : title;
    },
  }),
  sandbox: model({
    SandboxBound(value: unknown, data: Data) {
      if (value === undefined || value === null) return data;
      if (sandboxId(value) === sandboxId(data)) return value;
      throw new ReferenceRefusal("two sandboxes for one thread");
    },
    SandboxRebound(value: unknown, data: Data) {
      const isBound = value !== undefined && value !== null;
      if (isBound && sandboxId(value) === data.sandbox_id) return value;
      if (sandboxId(value) === data.previous) return { sandbox_id: data.sandbox_id };
      throw new ReferenceRefusal("a rebinding from a sandbox that is not bound");
    },
  }),
};

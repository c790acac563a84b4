import { ArtifactsPresented } from "../../events/artifacts.ts";
import type { EventDraft } from "../../events/define-event.ts";
import { DelegationsRecorded } from "../../events/delegations.ts";
import { GoalSet } from "../../events/goal.ts";
import { ImagesCleared, ImagesViewed } from "../../events/images.ts";
import type { Json } from "../../events/json.ts";
import type { ToolCall } from "../../events/message.ts";
import { ToolsPromoted } from "../../events/promoted-tools.ts";
import { SandboxBound } from "../../events/sandbox.ts";
import { SkillsLoaded } from "../../events/skills.ts";
import { StateUpdated } from "../../events/state-update.ts";
import { StructuredResponseProduced } from "../../events/structured-response.ts";
import { ThreadDataBound } from "../../events/thread-data.ts";
import { TitleSet } from "../../events/title.ts";
import { TodosWritten } from "../../events/todos.ts";
import { FilesUploaded } from "../../events/uploads.ts";
import { sameJson } from "../../reducers/same-json.ts";
import type { EventWriter } from "./event-writer.ts";
import { isObject } from "./source-thread.ts";

/** Data as a file has it: whether it fits the event is checked by the event's schema. */
const given = <Data>(value: Json): Data => value as Data;

/** The event that says how a field came to its value; undefined: the field has no event of its own. */
const events: {
  readonly [field: string]: (value: Json, current: Json | undefined) => EventDraft | undefined;
} = {
  thread_data: (value) => ThreadDataBound(given(value)),
  // A program's title only fills an empty place.
  title: (value, current) => TitleSet({ title: given(value), origin: current ? "user" : "auto" }),
  todos: (value) => TodosWritten({ todos: given(value) }),
  uploaded_files: (value) => FilesUploaded({ files: given(value) }),
  sandbox: (value) => SandboxBound(given(value)),
  artifacts: (value, current) => {
    if (!Array.isArray(value)) return undefined;
    const known = new Set(Array.isArray(current) ? current : []);
    const paths = value.filter((path) => !known.has(path));
    return paths.length === 0 ? undefined : ArtifactsPresented({ paths: given(paths) });
  },
  viewed_images: (value) =>
    isObject(value) && Object.keys(value).length === 0
      ? ImagesCleared({})
      : ImagesViewed({ images: given(value) }),
  promoted: (value) =>
    isObject(value)
      ? ToolsPromoted({ catalogHash: given(value.catalog_hash ?? null), names: given(value.names ?? null) })
      : undefined,
  goal: (value) => GoalSet({ goal: given(value) }),
  delegations: (value) => DelegationsRecorded({ entries: given(value) }),
  skill_context: (value) => SkillsLoaded({ entries: given(value) }),
  structured_response: (value) => StructuredResponseProduced({ value: given(value) }),
};

/** Writes what brings a field to its value: its own event where that gives exactly this value, else a plain update. */
export function writeField(writer: EventWriter, field: string, value: Json): void {
  const current = writer.state[field] as Json | undefined;
  if (sameJson(current, value)) return;
  const own = Object.hasOwn(events, field) ? events[field]?.(value, current) : undefined;
  if (own && writer.fits(own) && leadsTo(writer, own, field, value)) {
    writer.add(own, "runtime");
    return;
  }
  const known = Object.hasOwn(events, field) || field === "messages";
  const update = { field, value: given<never>(value) };
  writer.add(StateUpdated(known ? { ...update, replace: true } : update), "runtime");
}

function leadsTo(writer: EventWriter, draft: EventDraft, field: string, value: Json): boolean {
  try {
    return sameJson(writer.preview(draft)[field], value);
  } catch {
    // A reducer that refuses the event is answered by the plain update.
    return false;
  }
}

/** What a tool's call did to the state: todos that it wrote, files that it presented. */
export function eventsOfCall(
  call: ToolCall,
  values: { readonly [field: string]: Json },
  writer: EventWriter,
): EventDraft[] {
  if (call.name === "write_todos" && Array.isArray(values.todos)) {
    const written = TodosWritten({ todos: given(call.args.todos as Json) });
    return writer.fits(written) && !sameJson(writer.state.todos, written.data.todos) ? [written] : [];
  }
  if (call.name === "present_files" && Array.isArray(values.artifacts)) {
    const asked = call.args.filepaths ?? call.args.paths;
    const known = new Set(writer.state.artifacts as readonly string[]);
    const paths = Array.isArray(asked) ? asked.filter((path) => !known.has(path)) : [];
    const next = values.artifacts.slice(known.size, known.size + paths.length);
    // Only the files that come next in the list: so its order stays.
    const presented = ArtifactsPresented({ paths: given(next) });
    return paths.length > 0 && sameJson([...paths].sort(), [...next].sort()) && writer.fits(presented)
      ? [presented]
      : [];
  }
  return [];
}

import { type RecordedEvent, threadIdOf } from "../events/envelope.ts";
import { defineProjection } from "./define-projection.ts";
import type { RowMatch } from "./projection-store.ts";
import type { ProjectionView, ViewRow } from "./projection-view.ts";

/** One entry of the audit trail: who did what and when. It holds ids and numbers, never content. */
export interface AuditEntry {
  readonly position: string;
  /** ISO 8601. */
  readonly at: string;
  readonly threadId: string;
  readonly version: number;
  readonly by: string;
  readonly type: string;
  /** What happened, in words. */
  readonly action: string;
  readonly runId: string | null;
  readonly eventId: string;
  readonly causationId: string;
  readonly hash: string;
}

// biome-ignore lint/suspicious/noExplicitAny: data of all events; what is missing is written as "?"
type AnyData = any;

const plural = (count: unknown, one: string) => `${count} ${one}${count === 1 ? "" : "s"}`;
const lengthOf = (list: unknown) => (Array.isArray(list) ? list.length : "?");

/** Actions by event type. Only ids, names of tools and models, and counts: an erased thread keeps its trail. */
const actions: { readonly [type: string]: (data: AnyData) => string } = {
  ThreadCreated: () => "created the thread",
  ThreadForked: (data) => `forked the thread from ${data.parentThreadId}@${data.parentVersion}`,
  ThreadRewound: (data) => `rewound the thread to version ${data.toVersion}`,
  ThreadMetadataChanged: (data) => `changed metadata: ${Object.keys(data.metadata ?? {}).join(", ")}`,
  ThreadArchived: () => "archived the thread",
  ThreadRestored: () => "restored the thread",
  ThreadErased: () => "erased the thread's content",
  ContentRedacted: (data) =>
    `redacted content of ${plural(lengthOf(data.versions), "event")} by rule ${data.rule}`,
  HeadNamed: (data) =>
    data.version === null ? `took the name ${data.name} away` : `named version ${data.version} ${data.name}`,
  RunStarted: (data) => `started run ${data.runId}`,
  RunTakenOver: (data) => `took run ${data.runId} over`,
  RunCancelRequested: (data) => `asked to cancel run ${data.runId}`,
  RunCompleted: (data) => `completed run ${data.runId}`,
  RunFailed: (data) => `run ${data.runId} failed with ${data.error?.name ?? "?"}`,
  RunCancelled: (data) => `cancelled run ${data.runId}`,
  RunInterrupted: (data) => `stopped run ${data.runId} with ${plural(lengthOf(data.interrupts), "question")}`,
  InterruptResolved: (data) => `answered interrupt ${data.interruptId}`,
  JumpRequested: (data) => `asked to go on at ${data.to}`,
  ModelCallStarted: (data) => `called model ${data.model}`,
  ModelResponded: (data) => `answered call ${data.callId}`,
  ModelCallFailed: (data) => `failed call ${data.callId} with ${data.error?.name ?? "?"}`,
  ToolCallStarted: (data) => `called tool ${data.name}`,
  ToolCallCompleted: (data) => `completed call ${data.callId}`,
  ToolCallFailed: (data) => `failed call ${data.callId} with ${data.error?.name ?? "?"}`,
  ToolCallAbandoned: (data) => `left call ${data.callId} without a result`,
  MessagesAdded: (data) => `added ${plural(lengthOf(data.messages), "message")}`,
  MessagesReplaced: (data) => `replaced ${plural(lengthOf(data.messages), "message")}`,
  MessagesRemoved: (data) =>
    data.all ? "removed all messages" : `removed ${plural(lengthOf(data.ids), "message")}`,
  HistoryCompacted: () => "summarised the history",
  FilesUploaded: (data) => `uploaded ${plural(lengthOf(data.files), "file")}`,
  SandboxBound: (data) => `bound sandbox ${data.sandbox_id ?? "?"}`,
  SandboxReleased: (data) => `released sandbox ${data.sandbox_id}`,
  SandboxRebound: (data) => `bound sandbox ${data.sandbox_id} in place of ${data.previous}`,
  ArtifactsPresented: (data) => `presented ${plural(lengthOf(data.paths), "artifact")}`,
  TodosWritten: (data) => `wrote ${plural(lengthOf(data.todos), "todo")}`,
  ImagesViewed: (data) => `viewed ${plural(Object.keys(data.images ?? {}).length, "image")}`,
  ToolsPromoted: (data) => `made ${plural(lengthOf(data.names), "tool")} callable`,
  TitleSet: (data) => (data.title === null ? "took the title away" : "set the title"),
  StateUpdated: (data) => `updated ${data.field}`,
};

/** `ImagesCleared` → `images cleared` */
function wordsOf(type: string): string {
  return type.replace(/(?<=[a-z0-9])(?=[A-Z])/g, " ").toLowerCase();
}

/** What an event says in an audit trail, without its content. Events that nobody described are named by their type. */
export function describeAction(event: Pick<RecordedEvent, "type" | "data">): string {
  const action = Object.hasOwn(actions, event.type) ? actions[event.type] : undefined;
  return action?.(event.data ?? {}) ?? wordsOf(event.type);
}

/** The entry of the audit trail for one event. */
export function auditEntryOf(event: RecordedEvent): AuditEntry {
  return {
    position: event.position,
    at: event.recordedAt,
    threadId: threadIdOf(event.stream) ?? event.stream,
    version: event.version,
    by: event.metadata.by,
    type: event.type,
    action: describeAction(event),
    runId: event.metadata.runId ?? null,
    eventId: event.id,
    causationId: event.metadata.causationId,
    hash: event.metadata.hash,
  };
}

/** Who did what and when, over all threads, newest first. */
export const auditTrail = defineProjection<AuditEntry>({
  name: "audit-trail",
  version: 1,
  search: (entry) => `${entry.action}\n${entry.by}\n${entry.threadId}`,
  handlers: {
    "*": (rows, event) => rows.put(event.position, auditEntryOf(event as RecordedEvent)),
  },
});

export interface AuditQuery {
  readonly threadId?: string;
  readonly by?: string;
  readonly type?: string;
  readonly runId?: string;
  /** Part of the action, the emitter or the thread's id. */
  readonly search?: string;
  readonly limit?: number;
  readonly after?: ViewRow<AuditEntry>["cursor"];
}

/**
 * A page of the audit trail, newest first.
 *
 * @example
 * await readAuditTrail(viewOf(projectionStore, auditTrail), { threadId: "t", by: "user", limit: 50 });
 */
export function readAuditTrail(
  view: ProjectionView<AuditEntry>,
  query: AuditQuery = {},
): Promise<readonly ViewRow<AuditEntry>[]> {
  const { search, limit, after, ...members } = query;
  const match: RowMatch[] = Object.entries(members)
    .filter(([, equals]) => equals !== undefined)
    .map(([key, equals]) => ({ path: [key], equals }));
  return view.list({
    match,
    ...(search !== undefined && { search }),
    ...(limit !== undefined && { limit }),
    ...(after && { after }),
  });
}

import type { RecordedEvent } from "../../../../events/envelope.ts";
import type { BranchTree } from "../../../../projections/branches.ts";
import type { Outline } from "../../../../projections/json-outline.ts";
import type { LastChange } from "../../../../projections/last-changes.ts";
import type { ListedThread } from "../../../../projections/thread-list.ts";
import type { TimelineIndex } from "../../../../projections/timeline-index.ts";
import type { TraceNode } from "../../../../projections/trace.ts";
import { request, requestJson, withQuery } from "./request.ts";

export type ThreadRow = Omit<ListedThread, "titles">;
export type BareEvent = Omit<RecordedEvent, "data">;

export interface Access {
  readonly name: string;
  readonly scope: "read" | "run" | "admin";
  readonly readOnly: boolean;
  readonly version: string;
  readonly agents: readonly string[];
}

/** Where a value stands that is shown piece by piece: in a state, in the data of an event, in a model's request. */
export type ValueSource =
  | { readonly kind: "state"; readonly thread: string; readonly at: number }
  | { readonly kind: "event"; readonly thread: string; readonly version: number }
  /** The request of the model call at a version: `/system`, `/messages/0`, `/tools/0`. */
  | { readonly kind: "seen"; readonly thread: string; readonly version: number };

export const threadPath = (thread: string) => `log/v1/threads/${encodeURIComponent(thread)}`;
export type Signal = { readonly signal?: AbortSignal };

function outlinePath(
  source: ValueSource,
  query: { pointer: string; offset?: number; limit?: number },
): string {
  const path = threadPath(source.thread);
  switch (source.kind) {
    case "state":
      return withQuery(`${path}/state/outline`, { at: source.at, ...query });
    case "event":
      return withQuery(`${path}/events/${source.version}/outline`, query);
    case "seen":
      return withQuery(`${path}/seen/outline`, { at: source.version, ...query });
    default:
      return source satisfies never;
  }
}

/** `/log/v1`, typed. Every call throws `RequestProblem` when the server refuses. */
export const logApi = {
  access: (options: Signal = {}) => requestJson<Access>("log/v1/access", options),

  threads: (
    query: { search?: string | undefined; after?: string | undefined; limit?: number },
    options: Signal = {},
  ) =>
    requestJson<{ threads: readonly ThreadRow[]; next: string | null }>(
      withQuery("log/v1/threads", query),
      options,
    ),

  thread: (thread: string, options: Signal = {}) => requestJson<ThreadRow>(threadPath(thread), options),

  timeline: (thread: string, query: { to?: number; limit?: number }, options: Signal = {}) =>
    requestJson<TimelineIndex>(withQuery(`${threadPath(thread)}/timeline`, query), options),

  grep: (thread: string, query: { text: string; before?: number; limit?: number }, options: Signal = {}) =>
    requestJson<{ versions: readonly number[]; next: number | null }>(
      withQuery(`${threadPath(thread)}/grep`, query),
      options,
    ),

  /** Events with their data cut to what a line shows. */
  briefEvents: (
    thread: string,
    query: { from?: number; to?: number; limit?: number; dir?: "asc" | "desc" },
    options: Signal = {},
  ) =>
    requestJson<{ events: readonly RecordedEvent[]; head: number; next: number | null }>(
      withQuery(`${threadPath(thread)}/events`, { ...query, data: "brief" }),
      options,
    ),

  /** An event without its data, and the fields that fold it. */
  aboutEvent: (thread: string, version: number, options: Signal = {}) =>
    requestJson<{ event: BareEvent; fields: readonly string[] }>(
      `${threadPath(thread)}/events/${version}/about`,
      options,
    ),

  event: (thread: string, version: number, options: Signal = {}) =>
    requestJson<RecordedEvent>(`${threadPath(thread)}/events/${version}`, options),

  outline: (
    source: ValueSource,
    query: { pointer: string; offset?: number; limit?: number },
    options: Signal = {},
  ) => {
    return requestJson<{ version: number; outline: Outline }>(outlinePath(source, query), options);
  },

  fields: (thread: string, at: number, options: Signal = {}) =>
    requestJson<{ version: number; changes: readonly LastChange[] }>(
      withQuery(`${threadPath(thread)}/state/fields`, { at }),
      options,
    ),

  state: (thread: string, at: number | string, options: Signal = {}) =>
    requestJson<{ version: number; state: Readonly<Record<string, unknown>> }>(
      withQuery(`${threadPath(thread)}/state`, { at }),
      options,
    ),

  diff: (thread: string, a: number, b: number, options: Signal = {}) =>
    requestJson<{ a: number; b: number; diff: unknown }>(
      withQuery(`${threadPath(thread)}/diff`, { a, b }),
      options,
    ),

  causation: (thread: string, run?: string, options: Signal = {}) =>
    requestJson<{ nodes: readonly TraceNode[]; currency: string | null }>(
      withQuery(`${threadPath(thread)}/causation`, { run }),
      options,
    ),

  machine: (thread: string, at: number, options: Signal = {}) =>
    requestJson<{ current: string; version: number }>(
      withQuery(`${threadPath(thread)}/machine`, { at }),
      options,
    ),

  branches: (thread: string, options: Signal = {}) =>
    requestJson<BranchTree>(`${threadPath(thread)}/branches`, options),

  fork: (thread: string, body: { at: number; metadata?: Readonly<Record<string, unknown>> }) =>
    requestJson<{ threadId: string; version: number }>(`${threadPath(thread)}/fork`, {
      method: "POST",
      json: body,
    }),

  verify: (thread: string, options: Signal = {}) =>
    requestJson<Readonly<Record<string, unknown>> & { problems: readonly unknown[] }>(
      `${threadPath(thread)}/verify`,
      { method: "POST", json: {}, ...options },
    ),

  /** Bytes that an event of the thread names. */
  blob: async (thread: string, sha256: string, options: Signal = {}) =>
    (await request(`${threadPath(thread)}/blobs/${sha256}`, options)).blob(),

  artifact: async (thread: string, path: string, options: Signal = {}) =>
    (await request(withQuery(`${threadPath(thread)}/artifacts`, { path }), options)).blob(),
};

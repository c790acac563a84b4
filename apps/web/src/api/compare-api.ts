import type { ThreadPlace } from "../../../../projections/branches.ts";
import type { ListedChange } from "../../../../projections/change-outline.ts";
import type { Outline } from "../../../../projections/json-outline.ts";
import type { SeenBlock, SeenRequest } from "../../../../projections/seen.ts";
import { type Signal, threadPath } from "./log-api.ts";
import { requestJson, withQuery } from "./request.ts";

/** What changed from one place to another. */
export interface Changes {
  readonly from: ThreadPlace;
  readonly to: ThreadPlace;
  readonly changes: readonly ListedChange[];
  readonly leftOut?: number;
}

/** One operation of RFC 6902; a long value is only described. */
export interface ShownOperation {
  readonly op: string;
  readonly path: string;
  readonly from?: string;
  readonly value?: unknown;
  readonly outline?: Outline;
}

/** What one branch did since the common ancestor, and where its events stand. */
export interface BranchSide {
  readonly at: ThreadPlace;
  readonly events: number;
  readonly types: Readonly<Record<string, number>>;
  readonly fields: readonly string[];
  readonly parts: readonly { readonly threadId: string; readonly from: number; readonly to: number }[];
}

export interface ComparedBranches {
  readonly ancestor: ThreadPlace | null;
  readonly left: BranchSide;
  readonly right: BranchSide;
  readonly fields: readonly string[];
}

/** One message of a request, described. */
export interface ListedBlock extends Omit<SeenBlock, "message"> {
  readonly index: number;
  readonly id: string;
  readonly type: string;
  readonly outline: Outline;
}

/** A model's request: the newest of its messages, the rest described. */
export interface ListedRequest
  extends Omit<SeenRequest, "messages" | "system" | "tools" | "origin" | "settings" | "toolChoice"> {
  readonly settings?: unknown;
  readonly toolChoice?: unknown;
  readonly isRedacted: boolean;
  readonly system: { readonly by: readonly string[]; readonly outline: Outline } | null;
  readonly tools: readonly {
    readonly index: number;
    readonly name: string | null;
    readonly outline: Outline;
  }[];
  readonly first: number;
  readonly count: number;
  readonly messages: readonly ListedBlock[];
}

/** Routes that compare places of threads and show what models saw. Throws `RequestProblem` when the server refuses. */
export const compareApi = {
  /** `from`: a version, or `<thread>@<version>`; default: the version before. */
  changes: (
    thread: string,
    query: { at: number; with?: string | undefined; limit: number },
    options: Signal = {},
  ) => requestJson<Changes>(withQuery(`${threadPath(thread)}/changes`, query), options),

  patch: (
    thread: string,
    query: { at: number; with?: string | undefined; whole?: "true" },
    options: Signal = {},
  ) =>
    requestJson<Omit<Changes, "changes"> & { operations: readonly ShownOperation[] }>(
      withQuery(`${threadPath(thread)}/patch`, query),
      options,
    ),

  compare: (thread: string, query: { at: number; with: string }, options: Signal = {}) =>
    requestJson<ComparedBranches>(withQuery(`${threadPath(thread)}/compare`, query), options),

  /** The request of the last model call at or before a version. */
  seen: (thread: string, query: { at: number; limit: number }, options: Signal = {}) =>
    requestJson<ListedRequest>(withQuery(`${threadPath(thread)}/seen`, query), options),

  /** Replaces what fields hold. */
  update: (thread: string, values: Readonly<Record<string, unknown>>) =>
    requestJson<{ version: number }>(`${threadPath(thread)}/state`, { method: "PATCH", json: { values } }),
};

import type { VerifiedThread } from "../../../../projections/verify.ts";
import { readFrames } from "./event-stream.ts";
import { request, requestJson, withQuery } from "./request.ts";

/** A read model of the server and how far it is behind the log. */
export interface ReadModel {
  readonly name: string;
  readonly version: number;
  readonly state: string;
  /** Events in its rows. */
  readonly events: number;
  readonly lag: { readonly events: number; readonly more: boolean; readonly seconds: number };
  readonly skipped?: readonly unknown[];
  readonly error?: { readonly message: string };
}

export interface RebuildProgress {
  readonly events: number;
  readonly total: number | null;
  /** Events a second. */
  readonly rate: number;
  readonly secondsLeft: number | null;
}

/** How a rebuild ended. */
export type RebuildEnd =
  | { readonly kind: "done"; readonly rows: number; readonly events: number }
  | { readonly kind: "error"; readonly detail: string };

export interface ComparedModel {
  readonly differing: number;
}

const path = (thread: string) => `log/v1/threads/${encodeURIComponent(thread)}`;

/** The server's own API also where the page shows an opened file. */
function outerPath(of: string): string {
  return isOpenedFile() ? `../../${of}` : of;
}

/** True when the page shows a file that somebody opened, and not the server's own store. */
export function isOpenedFile(): boolean {
  return /\/opened\/[0-9a-f-]{36}\/$/.test(new URL(".", window.location.href).pathname);
}

/** What an auditor asks the server. */
export const auditApi = {
  verify: (thread: string, options: { signal?: AbortSignal } = {}) =>
    requestJson<VerifiedThread>(`${path(thread)}/verify`, { method: "POST", json: {}, ...options }),

  /** Events that fit the filters of the timeline. */
  selection: async (
    thread: string,
    query: {
      readonly format: "ndjson" | "csv";
      readonly type: string | undefined;
      readonly by: string | undefined;
      readonly run: string | undefined;
      readonly text: string | undefined;
    },
  ) => (await request(withQuery(`${path(thread)}/selection`, query))).blob(),

  /** The whole thread, as `threadfold import` reads it. */
  exported: async (thread: string, blobs: boolean) =>
    (await request(withQuery(`${path(thread)}/export`, { blobs: String(blobs) }))).blob(),

  readModels: (options: { signal?: AbortSignal } = {}) =>
    requestJson<{ projections: readonly ReadModel[] }>("log/v1/projections", options),

  compare: (name: string) =>
    requestJson<ComparedModel>(`log/v1/projections/${encodeURIComponent(name)}/verify`, {
      method: "POST",
      json: {},
    }),

  /** Rebuilds a read model and says how far it is. Undefined: the connection broke. */
  async rebuild(
    name: string,
    onProgress: (progress: RebuildProgress) => void,
    signal: AbortSignal,
  ): Promise<RebuildEnd | undefined> {
    const answer = await request(`log/v1/projections/${encodeURIComponent(name)}/rebuild`, {
      method: "POST",
      json: {},
      signal,
    });
    let end: RebuildEnd | undefined;
    await readFrames(
      answer,
      ({ event, data }) => {
        if (event === "progress") onProgress(data as RebuildProgress);
        if (event === "done") end = { kind: "done", ...(data as { rows: number; events: number }) };
        if (event === "error") end = { kind: "error", ...(data as { detail: string }) };
      },
      signal,
    );
    return end;
  },

  /** Gives the server an export to look at. Nothing of it is stored. */
  open: (file: Blob) =>
    requestJson<{ id: string; threads: readonly string[] }>(outerPath("log/v1/opened"), {
      method: "POST",
      body: file,
      headers: { "Content-Type": "application/x-ndjson" },
    }),
};

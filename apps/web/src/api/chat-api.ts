import type { ShownMessage } from "../../../server/conversation.ts";
import { request, requestJson, withQuery } from "./request.ts";

/** A question that a run waits with. */
export interface OpenQuestion {
  readonly id: string;
  readonly kind: string;
  readonly value: unknown;
}

/** The newest messages of a thread at a version, and how the thread stands. */
export interface Conversation {
  readonly version: number;
  readonly head: number;
  readonly messages: readonly ShownMessage[];
  readonly total: number;
  /** There are older messages. */
  readonly more: boolean;
  readonly status: string;
  /** The run that is open. */
  readonly runId: string | null;
  readonly interrupts: readonly OpenQuestion[];
  /** What the last run failed with. */
  readonly error: string | null;
  readonly artifacts: readonly string[];
}

export interface UploadedFile {
  readonly filename: string;
  /** Bytes. */
  readonly size: number;
}

const path = (thread: string) => `log/v1/threads/${encodeURIComponent(thread)}`;

/** What a chat asks the server for besides runs. */
export const chatApi = {
  conversation: (
    thread: string,
    query: { at: number; limit: number },
    options: { signal?: AbortSignal } = {},
  ) => requestJson<Conversation>(withQuery(`${path(thread)}/conversation`, query), options),

  /** Keeps files in the thread's folder for uploads. */
  async upload(thread: string, files: readonly File[]): Promise<readonly UploadedFile[]> {
    const form = new FormData();
    for (const file of files) form.append("files", file, file.name);
    const answer = await requestJson<{ files: readonly UploadedFile[] }>(`${path(thread)}/uploads`, {
      method: "POST",
      body: form,
    });
    return answer.files;
  },

  /** Lets the thread go on from an earlier version. */
  rewind: (thread: string, to: number, reason: string) =>
    request(`${path(thread)}/rewind`, { method: "POST", json: { to, reason } }),
};

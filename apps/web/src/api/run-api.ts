import { readFrames, type StreamFrame } from "./event-stream.ts";
import { request, requestJson } from "./request.ts";

/** What is sent to begin or to go on with a run, in the words of LangGraph's API. */
export interface RunRequest {
  readonly assistant_id: string;
  readonly input?: unknown;
  readonly command?: unknown;
  readonly checkpoint?: unknown;
  readonly multitask_strategy?: "reject" | "enqueue" | "interrupt" | "rollback";
}

const path = (thread: string) => `threads/${encodeURIComponent(thread)}`;

/** LangGraph's routes of the server, as far as a chat needs them. */
export const runApi = {
  createThread: (metadata: Readonly<Record<string, unknown>> = {}) =>
    requestJson<{ thread_id: string }>("threads", { method: "POST", json: { metadata } }),

  /** Starts a run and hands on its frames until it has ended. */
  async stream(
    thread: string,
    body: RunRequest,
    onFrame: (frame: StreamFrame) => void,
    signal?: AbortSignal,
  ): Promise<void> {
    const answer = await request(`${path(thread)}/runs/stream`, {
      method: "POST",
      json: {
        stream_mode: ["values", "messages-tuple", "custom"],
        stream_resumable: true,
        on_disconnect: "continue",
        ...body,
      },
      ...(signal && { signal }),
    });
    await readFrames(answer, onFrame, signal);
  },

  /** Follows a run that was started elsewhere, or before the page was loaded. */
  async join(
    thread: string,
    run: string,
    onFrame: (frame: StreamFrame) => void,
    signal?: AbortSignal,
  ): Promise<void> {
    const stream = `${path(thread)}/runs/${encodeURIComponent(run)}/stream?stream_mode=messages-tuple`;
    await readFrames(await request(stream, { ...(signal && { signal }) }), onFrame, signal);
  },

  cancel: (thread: string, run: string) =>
    request(`${path(thread)}/runs/${encodeURIComponent(run)}/cancel`, { method: "POST", json: {} }),

  threadState: (thread: string) => requestJson<Readonly<Record<string, unknown>>>(`${path(thread)}/state`),

  history: (thread: string, limit = 50) =>
    requestJson<readonly Readonly<Record<string, unknown>>[]>(`${path(thread)}/history`, {
      method: "POST",
      json: { limit },
    }),
};

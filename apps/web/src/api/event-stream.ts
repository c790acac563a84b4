import { createParser } from "eventsource-parser";
import { lost } from "./connection.ts";
import { request } from "./request.ts";

/** One frame of a stream of the server. */
export interface StreamFrame {
  readonly event: string;
  readonly id: string | undefined;
  readonly data: unknown;
}

/** Milliseconds without a byte after which a stream counts as dead; the server sends heartbeats every 15 s at most. */
const silenceMs = 40_000;

/**
 * Frames of one answer as they come. Ends when the server ends it.
 *
 * @throws {TypeError} the connection broke
 */
export async function readFrames(
  answer: Response,
  onFrame: (frame: StreamFrame) => void,
  signal?: AbortSignal,
): Promise<void> {
  const reader = answer.body?.pipeThrough(new TextDecoderStream()).getReader();
  if (!reader) return;
  const parser = createParser({
    onEvent: ({ event, id, data }) =>
      onFrame({ event: event ?? "message", id, data: data === "" ? undefined : JSON.parse(data) }),
  });
  const stop = () => void reader.cancel().catch(() => undefined);
  signal?.addEventListener("abort", stop);
  let watchdog = window.setTimeout(stop, silenceMs);
  try {
    for (;;) {
      const { done, value } = await reader.read();
      if (done) return;
      window.clearTimeout(watchdog);
      watchdog = window.setTimeout(stop, silenceMs);
      parser.feed(value);
    }
  } finally {
    window.clearTimeout(watchdog);
    signal?.removeEventListener("abort", stop);
  }
}

/** Resolves when the page can be seen: a hidden tab holds no connection, of which browsers allow six to a server. */
function whenVisible(signal: AbortSignal): Promise<void> {
  if (document.visibilityState === "visible") return Promise.resolve();
  return new Promise((resolve) => {
    const look = () => {
      if (document.visibilityState !== "visible" && !signal.aborted) return;
      document.removeEventListener("visibilitychange", look);
      resolve();
    };
    document.addEventListener("visibilitychange", look);
    signal.addEventListener("abort", look);
  });
}

/** Milliseconds that a tab may be hidden before its stream is closed. */
const hiddenMs = 5_000;

/** Aborts when the page has been hidden for a while. */
function hiddenSignal(): { readonly signal: AbortSignal; readonly done: () => void } {
  const hidden = new AbortController();
  let timer: number | undefined;
  const look = () => {
    window.clearTimeout(timer);
    if (document.visibilityState === "hidden") timer = window.setTimeout(() => hidden.abort(), hiddenMs);
  };
  document.addEventListener("visibilitychange", look);
  look();
  return {
    signal: hidden.signal,
    done() {
      window.clearTimeout(timer);
      document.removeEventListener("visibilitychange", look);
    },
  };
}

/**
 * Follows a stream for as long as it is wanted: a broken connection is made anew and goes on after the last frame, so
 * that nothing is missed.
 *
 * @param options.after position of the last event that is known
 * @param options.onGap the server does not know that position any more: read anew, then give the new position
 */
export async function followStream(options: {
  readonly path: string;
  readonly after: string | undefined;
  readonly onFrame: (frame: StreamFrame) => void;
  /** The place that a frame gives, from which the stream goes on after it broke; default: its id. */
  readonly placeOf?: (frame: StreamFrame) => string | undefined;
  readonly onGap: () => Promise<string | undefined>;
  readonly signal: AbortSignal;
}): Promise<void> {
  const { path, onFrame, onGap, signal, placeOf = ({ id }) => id } = options;
  let { after } = options;
  while (!signal.aborted) {
    await whenVisible(signal);
    const hidden = hiddenSignal();
    const either = AbortSignal.any([signal, hidden.signal]);
    let gap = false;
    try {
      const headers: Record<string, string> = after === undefined ? {} : { "Last-Event-ID": after };
      const answer = await request(path, { headers, signal: either });
      await readFrames(
        answer,
        (frame) => {
          if (frame.event === "gap") gap = true;
          else {
            after = placeOf(frame) ?? after;
            onFrame(frame);
          }
        },
        either,
      );
    } catch {
      // Broken off: it is tried again below.
    } finally {
      hidden.done();
    }
    if (signal.aborted) return;
    if (hidden.signal.aborted) continue;
    if (gap) after = await onGap();
    else await lost();
  }
}

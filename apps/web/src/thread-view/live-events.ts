import { followStream } from "../api/event-stream.ts";
import type { BareEvent } from "../api/log-api.ts";

type Listener = {
  /** Events of all threads, as they are recorded, in bunches. */
  readonly onEvents: (events: readonly BareEvent[]) => void;
  /** The stream begins, or begins again: something may have happened before that was not heard. */
  readonly onStart: () => void;
};

const listeners = new Set<Listener>();
let waiting: BareEvent[] = [];
let scheduled = false;

/** A bunch a frame, however many come. */
function hand(event: BareEvent): void {
  waiting.push(event);
  if (scheduled) return;
  scheduled = true;
  window.setTimeout(() => {
    scheduled = false;
    const events = waiting;
    waiting = [];
    for (const { onEvents } of listeners) onEvents(events);
  }, 30);
}

function positionOf(data: unknown): string | undefined {
  const position = (data as { readonly position?: unknown } | null)?.position;
  return typeof position === "string" ? position : undefined;
}

/** Follows the events of all threads, without what they hold, for as long as the page is open. One stream for all. */
export function startLiveEvents(signal: AbortSignal): void {
  const start = () => {
    for (const { onStart } of listeners) onStart();
  };
  void followStream({
    path: "log/v1/events/live?data=none",
    after: undefined,
    onFrame({ event, data }) {
      if (event === "caught-up") start();
      else hand(data as BareEvent);
    },
    placeOf: ({ event, id, data }) => id ?? (event === "caught-up" ? positionOf(data) : undefined),
    onGap: async () => undefined,
    signal,
  });
}

/** Hears what happens from now on. Gives back what ends it. */
export function onLiveEvents(listener: Listener): () => void {
  listeners.add(listener);
  return () => listeners.delete(listener);
}

/** The thread of a stream's name. */
export function threadOfStream(stream: string): string | undefined {
  return stream.startsWith("thread-") ? stream.slice("thread-".length) : undefined;
}

import type { RecordedEvent } from "../../../events/envelope.ts";
import type { Served } from "../served.ts";
import type { SseFrame } from "../sse.ts";
import { bareEvent } from "./brief-event.ts";
import { shownEvent } from "./shown-event.ts";

/**
 * Events as they are recorded, each as a frame whose id is its position. Begins with what comes from now on, or after a
 * position. A position that is not the log's gives one `gap` frame.
 *
 * @returns `close` ends it when its reader goes away
 */
export function liveEvents(
  served: Served,
  options: {
    readonly stream: string | undefined;
    /** Position of the last event that was received; `0` or `-1` for the beginning. */
    readonly after: string | undefined;
    readonly types: readonly string[] | undefined;
    readonly isShown: (event: RecordedEvent) => Promise<boolean>;
    /** Without their data. */
    readonly bare?: boolean;
  },
): { readonly items: AsyncIterable<SseFrame>; readonly close: () => void } {
  const gone = new AbortController();
  const signal = AbortSignal.any([gone.signal, served.closing]);
  return { items: follow(served, { ...options, signal }), close: () => gone.abort() };
}

async function* follow(
  { store }: Served,
  options: Parameters<typeof liveEvents>[1] & { readonly signal: AbortSignal },
): AsyncGenerator<SseFrame> {
  const { stream, after, types, isShown, bare = false, signal } = options;
  const fromBeginning = after === "0" || after === "-1";
  if (after !== undefined && !fromBeginning && !(await isPosition(store.log, after))) {
    yield {
      event: "gap",
      data: {
        requested: after.slice(0, 200),
        message: "This position is not in the log. Read the events anew, then follow from the last one.",
      },
    };
    return;
  }
  const subscription = {
    ...(stream !== undefined && { stream }),
    ...(types && { types }),
    ...(!fromBeginning && { after: after ?? ("end" as const) }),
    signal,
  };
  for await (const item of store.log.subscribe(subscription)) {
    if (item.kind === "caught-up") yield { event: "caught-up", data: { position: item.position ?? null } };
    else if (await isShown(item.event)) {
      const data = bare ? bareEvent(item.event) : shownEvent(item.event);
      yield { event: item.event.type, data, id: item.event.position };
    }
  }
}

/** True for a position that the log has, or that is before its end. */
async function isPosition(log: Served["store"]["log"], after: string): Promise<boolean> {
  try {
    for await (const page of log.readAll({ after, limit: 1 })) if (page.length > 0) return true;
  } catch {
    return false;
  }
  // Nothing comes after it: it is the last position, or one that was never there.
  for await (const page of log.readAll({ limit: 1 })) {
    const [first] = page;
    return first !== undefined && first.position.length === after.length && first.position <= after;
  }
  return false;
}

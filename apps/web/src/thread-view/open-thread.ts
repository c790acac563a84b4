import type { RecordedEvent } from "../../../../events/envelope.ts";
import type { TimelineMark } from "../../../../projections/timeline-index.ts";
import { logApi } from "../api/log-api.ts";
import { RequestProblem } from "../api/request.ts";
import { createValueStore, type ValueStore } from "../api/value-store.ts";
import { eventsOfIndex, type IndexedEvent, indexedEvent, markedTypes } from "./indexed-events.ts";
import { onLiveEvents, threadOfStream } from "./live-events.ts";

/** What the page knows of the thread that is open. */
export interface ThreadView {
  readonly thread: string;
  readonly status: "loading" | "ready" | "failed";
  readonly problem: RequestProblem | undefined;
  /** Last version. */
  readonly head: number;
  /** Events from the oldest that is known to the head. */
  readonly events: readonly IndexedEvent[];
  /** Older events are still being read. */
  readonly loadingOlder: boolean;
  readonly marks: readonly TimelineMark[];
  /** Versions, first and last, that the state at the head builds on. */
  readonly current: readonly (readonly [from: number, to: number])[];
}

/** An open thread: its index, kept up to date, and what its events hold as far as it was looked at. */
export interface OpenThread {
  readonly view: ValueStore<ThreadView>;
  /** The event with long texts cut; undefined: it is being read, `briefs` tells when it is there. */
  brief(version: number): RecordedEvent | undefined;
  /** Counts up when events were read. */
  readonly briefs: ValueStore<number>;
  close(): void;
}

/** Events of the first, small part: enough for a first look. */
const firstPart = 300;
/** Events that are read together. */
const briefPage = 50;

/** Opens a thread: the newest events first, then the older ones, then what is recorded. */
export function openThread(thread: string): OpenThread {
  const closing = new AbortController();
  const { signal } = closing;
  const view = createValueStore<ThreadView>({
    thread,
    status: "loading",
    problem: undefined,
    head: 0,
    events: [],
    loadingOlder: true,
    marks: [],
    current: [],
  });
  const briefs = createValueStore(0);
  const known = new Map<number, RecordedEvent>();
  /** First version of a page → the head when it was asked for: a page at the head is read again for what came since. */
  const asked = new Map<number, number>();
  const change = (part: Partial<ThreadView>) => view.set({ ...view.get(), ...part });

  const keep = (events: readonly RecordedEvent[]) => {
    for (const event of events) known.set(event.version, event);
    briefs.set(briefs.get() + 1);
  };
  const readBriefs = async (from: number) => {
    try {
      const to = from + briefPage - 1;
      keep((await logApi.briefEvents(thread, { from, to, limit: briefPage }, { signal })).events);
    } catch {
      asked.delete(from);
    }
  };

  /** Reads the newest events again, from the first that is not known on. */
  const catchUp = async () => {
    const { events, head } = view.get();
    const newest = await logApi.timeline(thread, { limit: firstPart }, { signal });
    const { marks, current } = newest;
    if (newest.head === head) return;
    let from = newest.from;
    let fresh = eventsOfIndex(newest);
    while (from > head + 1) {
      const older = await logApi.timeline(thread, { to: from - 1 }, { signal });
      fresh = [...eventsOfIndex(older), ...fresh];
      from = older.from;
    }
    const last = view.get().head;
    const added = fresh.filter(({ version }) => version > last);
    const markedBefore = view.get().marks.filter((mark) => mark.version < newest.from);
    change({
      head: Math.max(last, newest.head),
      events: [...view.get().events, ...added],
      marks: [...markedBefore, ...marks],
      current,
    });
    if (events.length === 0) change({ status: "ready" });
  };

  const readOlder = async () => {
    for (;;) {
      const first = view.get().events[0]?.version ?? 1;
      if (first <= 1) break;
      const older = await logApi.timeline(thread, { to: first - 1 }, { signal });
      change({
        events: [...eventsOfIndex(older), ...view.get().events],
        marks: [...older.marks, ...view.get().marks],
      });
    }
    change({ loadingOlder: false });
  };

  const fail = (error: unknown) => {
    if (signal.aborted) return;
    const problem = error instanceof RequestProblem ? error : new RequestProblem(0, "Error", String(error));
    change({ status: "failed", problem });
  };

  const open = async () => {
    const newest = logApi.timeline(thread, { limit: firstPart }, { signal });
    // The rows can stand before it is known what they say.
    const latest = logApi.briefEvents(thread, { dir: "desc", limit: briefPage }, { signal }).then(
      ({ events }) => keep(events),
      () => undefined,
    );
    const index = await newest;
    const { marks, current, head } = index;
    change({ status: "ready", head, events: eventsOfIndex(index), marks, current });
    await latest;
    await readOlder();
  };
  open().catch(fail);

  const stop = onLiveEvents({
    onEvents(heard) {
      if (view.get().status !== "ready") return;
      const own = heard.filter((event) => threadOfStream(event.stream) === thread);
      if (own.length === 0) return;
      let { head } = view.get();
      const fresh = own.filter(({ version }) => version > head).sort((a, b) => a.version - b.version);
      const next: IndexedEvent[] = [];
      let isWhole = true;
      for (const event of fresh) {
        if (event.version !== head + 1 || markedTypes.has(event.type)) {
          isWhole = false;
          break;
        }
        next.push(indexedEvent(event));
        head = event.version;
      }
      if (next.length > 0) {
        const { events, current } = view.get();
        const [from] = current.at(-1) ?? [1];
        change({ head, events: [...events, ...next], current: [...current.slice(0, -1), [from, head]] });
      }
      if (!isWhole) catchUp().catch(() => undefined);
    },
    onStart() {
      if (view.get().status === "ready") catchUp().catch(() => undefined);
    },
  });

  return {
    view,
    briefs,
    brief(version) {
      const event = known.get(version);
      if (event) return event;
      const from = version - ((version - 1) % briefPage);
      if ((asked.get(from) ?? 0) < version && !signal.aborted) {
        asked.set(from, Math.max(version, view.get().head));
        void readBriefs(from);
      }
      return undefined;
    },
    close() {
      stop();
      closing.abort();
    },
  };
}

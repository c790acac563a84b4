import type { StreamFrame } from "../api/event-stream.ts";
import { RequestProblem } from "../api/request.ts";
import { type RunRequest, runApi } from "../api/run-api.ts";
import { createValueStore, type ValueStore } from "../api/value-store.ts";

/** What is seen of a run while it goes on, and is in no event yet. */
export interface LiveRun {
  readonly following: boolean;
  readonly runId: string | undefined;
  /** Answers as far as they were streamed, by id, in order. */
  readonly texts: ReadonlyMap<string, string>;
  /** Why the run could not begin, or what it failed with. */
  readonly problem: string | undefined;
}

/** Follows one run of a thread at a time. */
export interface RunFollower {
  readonly live: ValueStore<LiveRun>;
  /** Starts a run and follows it. Resolves when it is over. */
  start(request: RunRequest): Promise<void>;
  /** Follows a run that goes on already, once. */
  join(runId: string): Promise<void>;
  close(): void;
}

/** Milliseconds that the streamed text stays after its run. */
const lingerMs = 1_500;
const nothing: LiveRun = { following: false, runId: undefined, texts: new Map(), problem: undefined };

function textOf(content: unknown): string {
  if (typeof content === "string") return content;
  if (!Array.isArray(content)) return "";
  return content.map((block: { readonly text?: unknown }) => String(block?.text ?? "")).join("");
}

export function createRunFollower(thread: string): RunFollower {
  const live = createValueStore<LiveRun>(nothing);
  let closing = new AbortController();
  /** Runs that were followed to their end. */
  const over = new Set<string>();
  let texts = new Map<string, string>();
  let painting = false;

  /** Tokens come faster than they can be seen: what came is shown with the next picture. */
  const paint = () => {
    if (painting) return;
    painting = true;
    window.requestAnimationFrame(() => {
      painting = false;
      live.set({ ...live.get(), texts: new Map(texts) });
    });
  };

  const onFrame = ({ event, data }: StreamFrame) => {
    if (event === "metadata") {
      const { run_id: runId } = data as { readonly run_id?: string };
      live.set({ ...live.get(), runId });
    } else if (event === "messages") {
      const [chunk] = data as readonly [{ id?: string; type?: string; content?: unknown }, unknown];
      if (chunk.type !== "AIMessageChunk" || chunk.id === undefined) return;
      texts.set(chunk.id, (texts.get(chunk.id) ?? "") + textOf(chunk.content));
      paint();
    } else if (event === "error") {
      const { message } = data as { readonly message?: unknown };
      live.set({ ...live.get(), problem: String(message ?? "") });
    }
  };

  const follow = async (runId: string | undefined, work: () => Promise<void>) => {
    closing = new AbortController();
    texts = new Map();
    live.set({ following: true, runId, texts, problem: undefined });
    let problem: string | undefined;
    try {
      await work();
    } catch (error) {
      // A stream that broke is joined again: the log says whether its run goes on.
      if (error instanceof RequestProblem) problem = error.message;
    }
    const { runId: known } = live.get();
    if (known !== undefined) over.add(known);
    live.set({ ...live.get(), following: false, ...(problem !== undefined && { problem }) });
    // Until the event with the whole answer was read.
    window.setTimeout(() => {
      if (!live.get().following) live.set({ ...live.get(), texts: new Map() });
    }, lingerMs);
  };

  return {
    live,
    start: (request) => follow(undefined, () => runApi.stream(thread, request, onFrame, closing.signal)),
    async join(runId) {
      if (live.get().following || over.has(runId)) return;
      await follow(runId, () => runApi.join(thread, runId, onFrame, closing.signal));
    },
    close: () => closing.abort(),
  };
}

import { HTTPException } from "hono/http-exception";
import type { Agent } from "../../../actors/agent-contract.ts";
import { type RecordedEvent, threadIdOf, threadStream } from "../../../events/envelope.ts";
import { createStateReader } from "../../../projections/state-at.ts";
import { createThreadReducer } from "../../../reducers/built-in.ts";
import { agentFor, type Served, shownThread, wireOptionsFor } from "../served.ts";
import type { SseFrame } from "../sse.ts";
import { withChildren } from "./child-items.ts";
import { describeError } from "./errors.ts";
import { type FrameCursor, formatCursor, parseCursor } from "./frame-cursor.ts";
import type { RunBody } from "./request-schemas.ts";
import type { BegunRun, TrackedRun } from "./run-directory.ts";
import { type FrameSource, framesOf, type StreamMode, streamModes } from "./run-frames.ts";
import { itemsOfRun } from "./run-items-source.ts";
import { type RunRecord, recordOfStart } from "./run-records.ts";

/** The modes of a request; `values` when it names none. @throws {HTTPException} 422 */
export function modesOf(given: RunBody["stream_mode"] | readonly string[]): readonly StreamMode[] {
  const modes = given === undefined || given === null || given.length === 0 ? ["values"] : [given].flat();
  return modes.map((mode) => {
    const known = streamModes.find((one) => one === mode);
    if (known) return known;
    throw new HTTPException(422, {
      message: `There is no stream mode "${mode}". Use ${streamModes.join(", ")}.`,
    });
  });
}

export interface FollowOptions {
  readonly modes: readonly StreamMode[];
  /** `Last-Event-ID` of the request. */
  readonly lastEventId?: string | undefined;
  /** With frames of the sub-agents that the run asks. */
  readonly subgraphs?: boolean | undefined;
}

/** Frames of a run that stands in line: nothing before it begins, an error when it never does. */
export async function* framesOfTracked(
  served: Served,
  tracked: TrackedRun,
  options: FollowOptions,
): AsyncGenerator<SseFrame> {
  let begun: BegunRun;
  try {
    begun = await tracked.started;
  } catch (error) {
    const name = error instanceof Error ? error.name : "Error";
    yield { event: "error", data: { error: name, message: describeError(error).text } };
    return;
  }
  yield* framesOfRecord(served, recordOfStart(begun.first), options, begun);
}

/** Frames of a run that has begun, after those that the client has. */
export async function* framesOfRecord(
  served: Served,
  record: RunRecord,
  { modes, lastEventId, subgraphs = false }: FollowOptions,
  known?: BegunRun,
): AsyncGenerator<SseFrame> {
  const { store, runs, closing } = served;
  const { threadId, runId, startVersion, metadata } = record;
  const graphId = String(metadata.graph_id ?? [...served.agents.keys()][0]);
  const agent = agentFor(served, graphId);
  const thread = shownThread(served, graphId, threadId);
  const after = parseCursor(lastEventId);
  const head = after === undefined ? 0 : (await store.log.head(threadStream(threadId))).version;
  if (after === "invalid" || (after && after.offset > head - startVersion)) {
    const first: FrameCursor = { offset: 0, part: 0 };
    const last: FrameCursor = { offset: head - startVersion, part: 0 };
    yield {
      event: "gap",
      data: {
        run_id: runId,
        thread_id: threadId,
        requested: lastEventId,
        earliest: formatCursor(first),
        latest: formatCursor(last),
        reload: `/threads/${threadId}/state`,
        message:
          "These frames are not in the log. Reload the thread's state, or follow the run from its beginning.",
      },
    };
    return;
  }
  const begun = known ?? (await runs.get(runId)?.started.catch(() => undefined));
  const live = begun?.run ?? (await openRun(served, record));
  const items = itemsOfRun(store.log, { threadId, runId, startVersion, live, signal: closing });
  const source = {
    agent,
    threadId,
    runId,
    startVersion,
    assistantId: String(metadata.assistant_id ?? ""),
    graphId,
    wire: wireOptionsFor(served, threadId),
    async stateBefore() {
      const known = (await served.redacted.isRedacted(threadId)) ? undefined : begun?.stateBefore;
      return known ?? thread.stateAt(startVersion - 1);
    },
  };
  const all = subgraphs ? withChildren(items, { log: store.log, threadId, signal: closing }) : items;
  const childSource = (start: RecordedEvent) => childSourceOf(served, start, { graphId, agent });
  for await (const { event, data, cursor } of framesOf(all, source, { modes, after, childSource })) {
    yield { event, data, id: formatCursor(cursor) };
  }
  // The last change of the thread that belongs to the run is done when the stream ends.
  await runs.get(runId)?.finished;
}

/** A sub-agent's run. Its agent is not known here, so its state has the built-in fields and whatever else was written. */
function childSourceOf(
  served: Served,
  { stream, version, data }: RecordedEvent,
  { graphId, agent }: { readonly graphId: string; readonly agent: Agent },
): FrameSource {
  const { store } = served;
  const threadId = threadIdOf(stream) ?? stream;
  const reducer = createThreadReducer({ openFields: true });
  const reader = createStateReader({ ...store, reducer, registry: agent.registry });
  return {
    agent: { reducer, middleware: [] },
    threadId,
    runId: (data as unknown as { runId: string }).runId,
    startVersion: version,
    assistantId: "",
    graphId,
    wire: wireOptionsFor(served, threadId),
    stateBefore: () => reader.stateAt(threadId, version - 1),
  };
}

/** The run when this process executes it without having been asked for it: it took it over. */
async function openRun(served: Served, { threadId, runId, status, metadata }: RunRecord) {
  if (status !== "running") return undefined;
  const open = await agentFor(served, metadata.graph_id).thread(threadId).openRun();
  return open?.runId === runId ? open : undefined;
}

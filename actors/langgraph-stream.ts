import type { BlobStore } from "../events/blobs/blob-store.ts";
import type { RecordedEvent } from "../events/envelope.ts";
import type { Message } from "../events/message.ts";
import type { Interrupt } from "../events/run.ts";
import { commonPrefix } from "../reducers/message-lineage.ts";
import type { State } from "../reducers/thread-state.ts";
import type { Run, RunItem } from "./agent-contract.ts";
import type { Assembly } from "./assembly.ts";
import { langChainMessage, langChainState, langGraphInterrupts } from "./langchain-output.ts";

/** A stream mode that is not one of LangGraph's, or that this runtime has no use for. */
export class UnsupportedStreamModeError extends Error {
  override readonly name = "UnsupportedStreamModeError";
  constructor(readonly mode: string) {
    super(
      `There is no stream mode "${mode}". Use ${streamModes.join(", ")}; everything else is in the events of the thread.`,
    );
  }
}

const streamModes = ["values", "updates", "messages", "custom"] as const;
type StreamMode = (typeof streamModes)[number];

/** @throws {UnsupportedStreamModeError} */
export function readStreamModes(given: string | readonly string[] | undefined): readonly StreamMode[] {
  const modes = given === undefined ? ["updates"] : typeof given === "string" ? [given] : given;
  return modes.map((mode) => {
    const known = streamModes.find((one) => one === mode);
    if (!known) throw new UnsupportedStreamModeError(mode);
    return known;
  });
}

/** Events after which a state is worth showing: the steps of LangGraph's graph. */
export const stepEnds: ReadonlySet<string> = new Set([
  "ModelCallStarted",
  "ModelResponded",
  "ToolCallCompleted",
  "ToolCallFailed",
  "ToolCallAbandoned",
  "RunCompleted",
  "RunFailed",
  "RunCancelled",
  "RunInterrupted",
]);

type Chunk = readonly [StreamMode, unknown];

/**
 * The live items of a run in LangGraph's stream modes: chunks for one mode, `[mode, chunk]` for a list of them.
 *
 * @param options.stateAt gives the state before the run's first event
 */
export async function* streamRun(
  run: Run,
  options: {
    readonly modes: readonly StreamMode[];
    readonly tagged: boolean;
    readonly assembly: Assembly;
    readonly blobs: BlobStore;
    readonly stateAt: (version: number) => Promise<State>;
  },
): AsyncIterable<unknown> {
  const { modes, tagged } = options;
  const stream = createStream(run, options);
  for await (const item of run) {
    for (const [mode, chunk] of await stream(item)) {
      if (modes.includes(mode)) yield tagged ? [mode, chunk] : chunk;
    }
  }
}

function createStream(
  run: Run,
  options: {
    readonly assembly: Assembly;
    readonly blobs: BlobStore;
    readonly stateAt: (version: number) => Promise<State>;
  },
): (item: RunItem) => Promise<readonly Chunk[]> {
  const { assembly, blobs, stateAt } = options;
  let state: State | undefined;
  let shown: State | undefined;
  /** Calls whose answer was streamed token by token. */
  const streamed = new Set<string>();
  let answered = false;

  const onEvent = async (event: RecordedEvent): Promise<readonly Chunk[]> => {
    state ??= event.version === 1 ? assembly.reducer.initial : await stateAt(event.version - 1);
    const before = state;
    state = assembly.reducer.apply(state, event);
    if (event.type === "ModelResponded") answered = true;
    if (event.type === "ModelCallStarted") answered = false;
    const chunks: Chunk[] = [];
    const node = nodeOf(event, assembly, answered);
    if (node !== undefined && state !== before) {
      chunks.push(["updates", { [node]: await changesBetween(before, state, blobs) }]);
    }
    const { callId, message } = event.data as { callId?: string; message?: Message };
    if (message && node !== undefined && !streamed.has(callId ?? "")) {
      const metadata = { ...metadataOf(run), langgraph_node: node };
      chunks.push(["messages", [await langChainMessage(message, blobs), metadata]]);
    }
    const interrupts =
      event.type === "RunInterrupted" ? (event.data as { interrupts: Interrupt[] }).interrupts : [];
    const asked = interrupts.length > 0 ? { __interrupt__: langGraphInterrupts(interrupts) } : undefined;
    if (asked) chunks.push(["updates", asked]);
    if (asked || (stepEnds.has(event.type) && state !== shown)) {
      shown = state;
      chunks.push(["values", { ...(await langChainState(state, blobs)), ...asked }]);
    }
    return chunks;
  };

  return async (item) => {
    switch (item.kind) {
      case "event":
        return onEvent(item.event);
      case "token": {
        streamed.add(item.callId);
        const metadata = { ...metadataOf(run), langgraph_node: "model_request", tags: [...item.tags] };
        return [["messages", [item.chunk, metadata]]];
      }
      case "custom":
        return [["custom", item.data]];
    }
  };
}

function metadataOf({ runId, threadId }: Run): Record<string, unknown> {
  return { run_id: runId, thread_id: threadId };
}

/** The node of LangChain's graph that an event would come from; undefined for the input and the run's own events. */
export function nodeOf(
  event: RecordedEvent,
  assembly: Pick<Assembly, "middleware">,
  answered: boolean,
): string | undefined {
  if (event.type === "ModelResponded") return "model_request";
  if (event.type.startsWith("ToolCall") || event.metadata.by.startsWith("tool:")) return "tools";
  const [kind, name] = event.metadata.by.split(/:(.*)/s);
  if (kind === "model") return "model_request";
  if (kind !== "middleware") return undefined;
  const middleware = assembly.middleware.find((one) => one.name === name);
  const after = middleware?.afterModel ? "after_model" : "after_agent";
  const before = middleware?.beforeModel ? "before_model" : "before_agent";
  return `${name}.${answered ? after : before}`;
}

/** What changed, by field; of the messages only those that are new or other than before. */
async function changesBetween(
  before: State,
  after: State,
  blobs: BlobStore,
): Promise<Record<string, unknown>> {
  const changes: Record<string, unknown> = {};
  for (const [field, value] of Object.entries(after)) {
    if (value === before[field]) continue;
    if (field !== "messages") changes[field] = value;
    else {
      const old = (before.messages ?? []) as readonly Message[];
      const now = value as readonly Message[];
      const known = new Set(old.slice(commonPrefix(old, now)));
      const fresh = now.slice(commonPrefix(old, now)).filter((message) => !known.has(message));
      changes.messages = await Promise.all(fresh.map((message) => langChainMessage(message, blobs)));
    }
  }
  return changes;
}

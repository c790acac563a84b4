import type { AIMessageChunk } from "@langchain/core/messages";
import type { Agent, RunItem } from "../../../actors/agent-contract.ts";
import { nodeOf, stepEnds } from "../../../actors/langgraph-stream.ts";
import type { RecordedEvent } from "../../../events/envelope.ts";
import type { Message } from "../../../events/message.ts";
import type { ErrorData, Interrupt } from "../../../events/run.ts";
import { commonPrefix } from "../../../reducers/message-lineage.ts";
import type { State } from "../../../reducers/thread-state.ts";
import { checkpointIdOf } from "./checkpoint-id.ts";
import { type FrameCursor, isBehind } from "./frame-cursor.ts";
import { type WireOptions, wireMessage, wireValues } from "./wire-values.ts";

/** Stream modes that clients may ask for. */
export const streamModes = [
  "values",
  "updates",
  "messages",
  "messages-tuple",
  "custom",
  "tasks",
  "checkpoints",
  "debug",
  "tools",
] as const;
export type StreamMode = (typeof streamModes)[number];

/** One frame of a run's stream, before it is written. */
export interface RunFrame {
  readonly event: string;
  readonly data: unknown;
  readonly cursor: FrameCursor;
}

/** What the frames say about their run. */
export interface FrameSource {
  readonly agent: Pick<Agent, "reducer" | "middleware">;
  readonly threadId: string;
  readonly runId: string;
  /** Version of `RunStarted`. */
  readonly startVersion: number;
  readonly assistantId: string;
  readonly graphId: string;
  readonly wire: WireOptions;
  /** The state before the run's first event. */
  readonly stateBefore: () => Promise<State>;
}

/** Places of the frames of one event, so that their ids follow from the log whatever modes were asked for. */
const part = {
  metadata: 0,
  taskEnd: 1,
  debugEnd: 2,
  toolEnd: 3,
  updates: 4,
  messages: 5,
  messagesMetadata: 6,
  messagesComplete: 7,
  interruptUpdate: 8,
  checkpoint: 9,
  debugCheckpoint: 10,
  values: 11,
  interrupts: 12,
  taskStart: 13,
  debugStart: 14,
  toolStart: 15,
  error: 16,
} as const;
/** Live items after an event have places from here on. */
const firstLivePart = 100;

interface EventData {
  readonly callId?: string;
  readonly message?: Message;
  readonly interrupts?: readonly Interrupt[];
  readonly error?: ErrorData;
  readonly name?: string;
  readonly args?: unknown;
  readonly model?: string;
}

const toolEnds = new Set(["ToolCallCompleted", "ToolCallFailed", "ToolCallAbandoned"]);

/**
 * Turns the items of a run into LangGraph's frames. Frames of events follow from the log alone, so their ids are the
 * same in every process and after every restart; tokens and custom items are live only.
 *
 * @param options.after frames up to here were received before
 */
export async function* framesOf(
  items: AsyncIterable<RunItem>,
  source: FrameSource,
  options: { readonly modes: readonly StreamMode[]; readonly after?: FrameCursor | undefined },
): AsyncGenerator<RunFrame> {
  const { after } = options;
  const derive = createDerivation(source, options.modes, after);
  for await (const item of items) {
    for (const { cursor, event, data } of await derive(item)) {
      if (after && !isBehind(cursor, after)) continue;
      yield { event, data: await data(), cursor };
    }
  }
}

interface LazyFrame {
  readonly event: string;
  readonly cursor: FrameCursor;
  readonly data: () => unknown;
}

function createDerivation(
  source: FrameSource,
  modes: readonly StreamMode[],
  after: FrameCursor | undefined,
): (item: RunItem) => Promise<readonly LazyFrame[]> {
  const { agent, wire, runId, threadId, startVersion } = source;
  let state: State | undefined;
  let shown: State | undefined;
  let answered = false;
  let offset = 0;
  let live = 0;
  let step = 0;
  /** Characters that were streamed, by call. */
  const streamed = new Map<string, number>();
  const announced = new Set<string>();
  const partial = new Map<string, string>();
  const wants = (mode: StreamMode) => modes.includes(mode);
  const tuple = (node: string, more: object = {}) => ({
    langgraph_node: node,
    langgraph_step: step,
    langgraph_triggers: [],
    langgraph_path: ["__pregel_pull", node],
    langgraph_checkpoint_ns: "",
    thread_id: threadId,
    run_id: runId,
    assistant_id: source.assistantId,
    graph_id: source.graphId,
    tags: [],
    ...more,
  });

  const onEvent = async (event: RecordedEvent): Promise<readonly LazyFrame[]> => {
    offset = event.version - startVersion;
    live = 0;
    const frames: LazyFrame[] = [];
    const add = (place: number, name: string, data: () => unknown) =>
      frames.push({ event: name, cursor: { offset, part: place }, data });
    state ??= await source.stateBefore();
    const before = state;
    const now = agent.reducer.apply(before, event);
    state = now;
    const data = event.data as unknown as EventData;
    if (event.type === "RunStarted") add(part.metadata, "metadata", () => ({ run_id: runId, attempt: 1 }));
    if (event.type === "ModelResponded") answered = true;
    if (event.type === "ModelCallStarted") answered = false;
    const node = nodeOf(event, agent, answered);
    const at = event.recordedAt;
    const debug = (place: number, type: string, payload: () => unknown) => {
      if (wants("debug")) {
        add(place, "debug", async () => ({ step, type, timestamp: at, payload: await payload() }));
      }
    };
    addEnds(event, data, add, debug);
    if (node !== undefined && now !== before && wants("updates")) {
      add(part.updates, "updates", async () => ({ [node]: await changes(before, now) }));
    }
    if (data.message && node !== undefined) addWholeMessage(data.callId ?? "", data.message, node, add);
    const asked =
      event.type === "RunInterrupted"
        ? { __interrupt__: (data.interrupts ?? []).map(({ id, value }) => ({ id, value })) }
        : undefined;
    if (asked && wants("updates")) add(part.interruptUpdate, "updates", () => asked);
    if (stepEnds.has(event.type) && now !== shown) {
      shown = now;
      step += 1;
      const checkpoint = async () => ({
        values: await wireValues(now, wire),
        metadata: { step, source: "loop", run_id: runId },
        next: [],
        tasks: [],
        config: {
          configurable: {
            thread_id: threadId,
            checkpoint_ns: "",
            checkpoint_id: checkpointIdOf(event.stream, event.version, at),
          },
        },
      });
      if (wants("checkpoints")) add(part.checkpoint, "checkpoints", checkpoint);
      debug(part.debugCheckpoint, "checkpoint", checkpoint);
      if (wants("values")) add(part.values, "values", () => wireValues(now, wire));
    }
    // Clients merge this frame into the values before it, so it holds nothing else.
    if (asked && wants("values")) add(part.interrupts, "values", () => asked);
    addStarts(event, data, add, debug);
    if (event.type === "RunFailed") {
      const { name = "Error", message = "The run failed." } = data.error ?? {};
      add(part.error, "error", () => ({ error: name, message }));
    }
    return frames;
  };

  type Add = (place: number, name: string, data: () => unknown) => void;
  type Debug = (place: number, type: string, payload: () => unknown) => void;

  const addEnds = (event: RecordedEvent, data: EventData, add: Add, debug: Debug) => {
    const isTool = toolEnds.has(event.type);
    if (!isTool && event.type !== "ModelResponded" && event.type !== "ModelCallFailed") return;
    const name = isTool ? "tools" : "model_request";
    const result = async () => ({
      id: data.callId,
      name,
      result: data.message ? { messages: [await wireMessage(data.message, wire)] } : null,
      interrupts: [],
      error: data.error?.message ?? null,
    });
    if (wants("tasks")) add(part.taskEnd, "tasks", result);
    debug(part.debugEnd, "task_result", result);
    if (!isTool || !wants("tools")) return;
    const tool = { toolCallId: data.callId, name: data.message?.name ?? "" };
    if (event.type === "ToolCallCompleted") {
      add(part.toolEnd, "tools", () => ({ event: "on_tool_end", ...tool, output: data.message?.content }));
    } else {
      const error = data.error?.message ?? data.message?.content;
      add(part.toolEnd, "tools", () => ({ event: "on_tool_error", ...tool, error }));
    }
  };

  const addStarts = (event: RecordedEvent, data: EventData, add: Add, debug: Debug) => {
    const isTool = event.type === "ToolCallStarted";
    if (!isTool && event.type !== "ModelCallStarted") return;
    const start = () => ({
      id: data.callId,
      name: isTool ? "tools" : "model_request",
      input: isTool ? { name: data.name, args: data.args ?? argsOf(data.callId) } : null,
      triggers: [],
      interrupts: [],
      metadata: isTool ? {} : { ls_model_name: data.model },
    });
    if (wants("tasks")) add(part.taskStart, "tasks", start);
    debug(part.debugStart, "task", start);
    if (isTool && wants("tools")) {
      const input = data.args ?? argsOf(data.callId);
      add(part.toolStart, "tools", () => ({
        event: "on_tool_start",
        toolCallId: data.callId,
        name: data.name,
        input,
      }));
    }
  };

  const argsOf = (callId: string | undefined): unknown => {
    const messages = (state?.messages ?? []) as readonly Message[];
    for (const message of messages.toReversed()) {
      const call = message.tool_calls?.find(({ id }) => id === callId);
      if (call) return call.args;
    }
    return {};
  };

  const addWholeMessage = (callId: string, message: Message, node: string, add: Add) => {
    const known = streamed.get(callId);
    if (wants("messages-tuple") && known === undefined) {
      // The client has the beginning from a stream that is gone: it gets the rest as one more chunk.
      const received = after && after.chars !== undefined && after.offset === offset - 1 ? after.chars : 0;
      if (received > 0 && typeof message.content === "string") {
        const content = message.content.slice(received);
        const chunk = { ...message, type: "AIMessageChunk", content };
        add(part.messages, "messages", () => [chunk, tuple(node)]);
      } else add(part.messages, "messages", async () => [await wireMessage(message, wire), tuple(node)]);
    }
    if (!wants("messages")) return;
    if (!announced.has(message.id)) {
      announced.add(message.id);
      add(part.messagesMetadata, "messages/metadata", () => ({ [message.id]: { metadata: tuple(node) } }));
    }
    add(part.messagesComplete, "messages/complete", async () => [await wireMessage(message, wire)]);
  };

  const changes = async (before: State, now: State) => {
    const changed: Record<string, unknown> = {};
    for (const [field, value] of Object.entries(now)) {
      if (value === before[field]) continue;
      changed[field] = field === "messages" ? fresh(before.messages, value) : value;
    }
    return wireValues(changed, wire);
  };

  return async (item) => {
    if (item.kind === "event") return onEvent(item.event);
    live += 1;
    if (item.kind === "custom") {
      const cursor = { offset, part: firstLivePart + 2 * live };
      return wants("custom") ? [{ event: "custom", cursor, data: () => item.data }] : [];
    }
    const chars = (streamed.get(item.callId) ?? 0) + item.text.length;
    streamed.set(item.callId, chars);
    const cursor = { offset, part: firstLivePart + 2 * live, chars };
    if (item.tags.some((tag) => tag === "nostream" || tag === "langsmith:nostream")) return [];
    const frames: LazyFrame[] = [];
    if (wants("messages-tuple")) {
      const metadata = tuple("model_request", { tags: [...item.tags] });
      frames.push({ event: "messages", cursor, data: () => [wireChunk(item), metadata] });
    }
    if (wants("messages")) {
      const text = (partial.get(item.messageId) ?? "") + item.text;
      partial.set(item.messageId, text);
      const first = !announced.has(item.messageId);
      announced.add(item.messageId);
      if (first) {
        const metadata = { [item.messageId]: { metadata: tuple("model_request") } };
        const before = { ...cursor, part: cursor.part - 1 };
        frames.push({ event: "messages/metadata", cursor: before, data: () => metadata });
      }
      const shownSoFar = [{ id: item.messageId, type: "ai", content: text, tool_calls: [] }];
      frames.push({ event: "messages/partial", cursor, data: () => shownSoFar });
    }
    return frames;
  };
}

/** Messages that are new or other than before. */
function fresh(before: unknown, now: unknown): readonly Message[] {
  const old = (before ?? []) as readonly Message[];
  const list = now as readonly Message[];
  const shared = commonPrefix(old, list);
  const known = new Set(old.slice(shared));
  return list.slice(shared).filter((message) => !known.has(message));
}

/** A chunk of an answer in LangGraph's flat form. */
function wireChunk(item: Extract<RunItem, { kind: "token" }>): Record<string, unknown> {
  const chunk = item.chunk as Partial<AIMessageChunk>;
  return {
    id: item.messageId,
    type: "AIMessageChunk",
    content: chunk.content ?? item.text,
    additional_kwargs: chunk.additional_kwargs ?? {},
    response_metadata: chunk.response_metadata ?? {},
    tool_calls: chunk.tool_calls ?? [],
    tool_call_chunks: chunk.tool_call_chunks ?? [],
    invalid_tool_calls: chunk.invalid_tool_calls ?? [],
    ...(chunk.usage_metadata && { usage_metadata: chunk.usage_metadata }),
  };
}

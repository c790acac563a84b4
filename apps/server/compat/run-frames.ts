import type { AIMessageChunk } from "@langchain/core/messages";
import type { Agent, RunItem } from "../../../actors/agent-contract.ts";
import { nodeOf, stepEnds } from "../../../actors/langgraph-stream.ts";
import type { RecordedEvent } from "../../../events/envelope.ts";
import type { Message } from "../../../events/message.ts";
import type { ErrorData, Interrupt } from "../../../events/run.ts";
import { commonPrefix } from "../../../reducers/message-lineage.ts";
import type { State } from "../../../reducers/thread-state.ts";
import { checkpointIdOf } from "./checkpoint-id.ts";
import type { ChildItem } from "./child-items.ts";
import { type FrameCursor, isBehind, isChildBehind } from "./frame-cursor.ts";
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
  "events",
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
  /** Of a sub-agent's run. */
  readonly namespace?: string;
  /** The state before the run's first event. */
  readonly stateBefore: () => Promise<State>;
}

/** Places of the frames of one event, so that their ids follow from the log whatever modes were asked for. */
const part = {
  metadata: 0,
  chainStart: 1,
  taskEnd: 2,
  debugEnd: 3,
  toolEnd: 4,
  callEnd: 5,
  updates: 6,
  messages: 7,
  messagesMetadata: 8,
  messagesComplete: 9,
  interruptUpdate: 10,
  checkpoint: 11,
  debugCheckpoint: 12,
  values: 13,
  interrupts: 14,
  taskStart: 15,
  debugStart: 16,
  toolStart: 17,
  callStart: 18,
  chainEnd: 19,
  error: 20,
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
 * same in every process and after every restart; tokens and custom items are live only. Frames of sub-agents carry
 * their namespace in their name: `values|tools:<call id>`.
 *
 * @param options.after frames up to here were received before
 * @param options.childSource what a sub-agent's run needs, from its `RunStarted`
 */
export async function* framesOf(
  items: AsyncIterable<RunItem | ChildItem>,
  source: FrameSource,
  options: {
    readonly modes: readonly StreamMode[];
    readonly after?: FrameCursor | undefined;
    readonly childSource: (start: RecordedEvent) => FrameSource;
  },
): AsyncGenerator<RunFrame> {
  const { modes, after, childSource } = options;
  const derive = createDerivation(source, modes, after);
  const deriveChild = createChildDerivation(modes, childSource);
  let last: FrameCursor = { offset: 0, part: 0 };
  /** Position of the run's event that the client had seen. */
  let seen: string | undefined;
  for await (const item of items) {
    if (item.kind === "child") {
      for (const { event, data, part: place } of await deriveChild(item)) {
        const child = { position: item.event.position, part: place };
        const isOld = after && (seen === undefined || !isChildBehind(child, after, seen));
        if (!isOld) yield { event, data: await data(), cursor: { ...last, child } };
      }
      continue;
    }
    if (item.kind === "event" && item.event.version - source.startVersion === after?.offset) {
      seen = item.event.position;
    }
    for (const { cursor, event, data } of await derive(item)) {
      last = cursor;
      if (after && !isBehind(cursor, after)) continue;
      yield { event, data: await data(), cursor };
    }
  }
}

/** Frames of the sub-agents' events, by thread. */
function createChildDerivation(
  modes: readonly StreamMode[],
  sourceOf: (start: RecordedEvent) => FrameSource,
): (item: ChildItem) => Promise<readonly { event: string; data: () => unknown; part: number }[]> {
  const derivations = new Map<string, ReturnType<typeof createDerivation>>();
  return async ({ namespace, event }) => {
    if (event.type === "RunStarted") {
      const source = { ...sourceOf(event), namespace };
      derivations.set(event.stream, createDerivation(source, modes, undefined));
    }
    const frames = (await derivations.get(event.stream)?.({ kind: "event", event })) ?? [];
    // The run's own metadata and error are not the sub-agent's.
    return frames
      .filter(({ cursor }) => cursor.part !== part.metadata && cursor.part !== part.error)
      .map(({ event: name, data, cursor }) => ({ event: `${name}|${namespace}`, data, part: cursor.part }));
  };
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
  /** Names of the models that were called, by call. */
  const models = new Map<string, string>();
  const wants = (mode: StreamMode) => modes.includes(mode);
  const tuple = (node: string, more: object = {}) => ({
    langgraph_node: node,
    langgraph_step: step,
    langgraph_triggers: [],
    langgraph_path: ["__pregel_pull", node],
    langgraph_checkpoint_ns: source.namespace ?? "",
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
    addCallEvents(event, data, add, now);
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
    return frames.sort((a, b) => a.cursor.part - b.cursor.part);
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

  /** Frames of the mode `events`, as LangChain's `streamEvents` gives them. */
  const addCallEvents = (event: RecordedEvent, data: EventData, add: Add, now: State) => {
    if (!wants("events")) return;
    const tell = (place: number, kind: string, name: string, id: string, more: () => unknown) =>
      add(place, "events", async () => callEvent(kind, name, id, await more()));
    const { callId = "", message, model = "", name = "" } = data;
    if (event.type === "RunStarted") {
      tell(part.chainStart, "on_chain_start", source.graphId, runId, () => ({}));
    } else if (event.type === "ModelCallStarted") {
      models.set(callId, model);
      tell(part.callStart, "on_chat_model_start", model, callId, () => ({}));
    } else if (event.type === "ToolCallStarted") {
      const input = data.args ?? argsOf(callId);
      tell(part.callStart, "on_tool_start", name, callId, () => ({ input }));
    } else if (event.type === "ModelResponded" && message) {
      const output = () => wireMessage(message, wire);
      tell(part.callEnd, "on_chat_model_end", models.get(callId) ?? "", callId, async () => ({
        output: await output(),
      }));
    } else if (event.type === "ToolCallCompleted" && message) {
      tell(part.callEnd, "on_tool_end", message.name ?? "", callId, async () => ({
        output: await wireMessage(message, wire),
      }));
    } else if (toolEnds.has(event.type)) {
      const error = data.error?.message ?? message?.content;
      tell(part.callEnd, "on_tool_error", message?.name ?? name, callId, () => ({ error }));
    } else if (/^Run(?:Completed|Interrupted|Cancelled)$/.test(event.type)) {
      tell(part.chainEnd, "on_chain_end", source.graphId, runId, async () => ({
        output: await wireValues(now, wire),
      }));
    }
  };
  const callEvent = (event: string, name: string, id: string, data: unknown) => ({
    event,
    name,
    run_id: id,
    parent_ids: id === runId ? [] : [runId],
    tags: [],
    metadata: tuple(event.startsWith("on_tool") ? "tools" : "model_request"),
    data,
  });

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
      const cursor = { offset, part: firstLivePart + 4 * live };
      const frames: LazyFrame[] = [];
      if (wants("custom")) frames.push({ event: "custom", cursor, data: () => item.data });
      if (wants("events")) {
        const after = { ...cursor, part: cursor.part + 1 };
        const data = () => callEvent("on_custom_event", "custom", runId, item.data);
        frames.push({ event: "events", cursor: after, data });
      }
      return frames;
    }
    const chars = (streamed.get(item.callId) ?? 0) + item.text.length;
    streamed.set(item.callId, chars);
    const cursor = { offset, part: firstLivePart + 4 * live, chars };
    if (item.tags.some((tag) => tag === "nostream" || tag === "langsmith:nostream")) return [];
    const frames: LazyFrame[] = [];
    if (wants("events")) {
      const before = { ...cursor, part: cursor.part - 1 };
      const name = models.get(item.callId) ?? "";
      const data = () => callEvent("on_chat_model_stream", name, item.callId, { chunk: wireChunk(item) });
      frames.push({ event: "events", cursor: before, data });
    }
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
        const before = { ...cursor, part: cursor.part - 2 };
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

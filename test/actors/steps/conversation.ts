import { v7 as uuid } from "uuid";
import type { AssemblyOptions } from "../../../actors/assemble.ts";
import { externalize } from "../../../actors/externalize.ts";
import { inputToDrafts } from "../../../actors/steps/input.ts";
import { prepareModelCall } from "../../../actors/steps/model-call.ts";
import { runHooks } from "../../../actors/steps/run-hooks.ts";
import type { AttributedDraft, PreviousView, StepContext } from "../../../actors/steps/step-contract.ts";
import { executeToolCall } from "../../../actors/steps/tool-call.ts";
import type { RecordedEvent } from "../../../events/envelope.ts";
import type { Json } from "../../../events/json.ts";
import { createMemoryLog } from "../../../events/log/memory.ts";
import { createMemorySide } from "../../../events/log/memory-side.ts";
import type { Message } from "../../../events/message.ts";
import { storableJson } from "../../../events/storable-json.ts";
import { createStateReader } from "../../../projections/state-at.ts";
import { stepContext } from "./step-context.ts";

/** The steps of a thread, one after the other, on a real log: what the thread actor does, without its machine. */
export function startConversation(options: Partial<AssemblyOptions>, threadId = "t1") {
  const log = createMemoryLog();
  const ctx = stepContext(options);
  const { reducer, registry } = ctx.assembly;
  const reader = createStateReader({ log, side: createMemorySide(), reducer, registry });
  const sources = { log, blobs: ctx.blobs, reader };
  let { state, version } = ctx;
  let previous: PreviousView | undefined;

  const now = (): StepContext => ({ ...ctx, threadId, state, version });

  async function append(drafts: readonly AttributedDraft[]): Promise<readonly RecordedEvent[]> {
    const moved = await externalize(drafts, ctx.blobs);
    const events = moved.map(({ draft, by }, index) => {
      const id = uuid();
      const plain = storableJson(draft.data) as { [key: string]: Json };
      const isCall = draft.type === "ModelCallStarted";
      const data = isCall
        ? { ...plain, view: { ...(plain.view as object), version: version + index } }
        : plain;
      const schema = registry.check({ type: draft.type, data }).version;
      const metadata = { schema, by, causationId: id, correlationId: id };
      return { id, type: draft.type, data: data as Json, recordedAt: new Date(0).toISOString(), metadata };
    });
    const result = await log.append(`thread-${threadId}`, events, { expectedVersion: version });
    state = reducer.fold(result.events, state);
    version = result.version;
    return result.events;
  }

  /** One model call with the hooks before it, recorded as the actor records it. */
  async function callModel(): Promise<{ readonly callId: string; readonly answer: Message }> {
    const before = await runHooks("beforeModel", now());
    const prepared = await prepareModelCall({ ...now(), state: before.state }, previous);
    await append([...before.drafts, ...prepared.started]);
    previous = prepared.view();
    const record = async (drafts: readonly AttributedDraft[]) => {
      await append(drafts);
      previous = prepared.view();
    };
    const events = await prepared.execute(record).then(append);
    previous = prepared.view();
    const { message: answer } = (events.at(-1) as RecordedEvent).data as unknown as { message: Message };
    return { callId: prepared.callId, answer };
  }

  async function runTools(answer: Message): Promise<void> {
    for (const { id = "", name, args } of answer.tool_calls ?? []) {
      const outcome = await executeToolCall(now(), { call: { id, name, args }, answers: [] });
      if (outcome.kind === "ended") await append(outcome.drafts);
    }
  }

  return {
    ...sources,
    sources,
    append,
    callModel,
    /** Forgets what only the process knew, as a restart does. */
    restart: (view: PreviousView | undefined) => {
      previous = view;
    },
    state: () => state,
    version: () => version,
    /** Says something and runs the loop to its end; gives the ids of the model calls. */
    async say(input: Parameters<typeof inputToDrafts>[0]): Promise<string[]> {
      await append(await inputToDrafts(input, now(), uuid));
      const calls: string[] = [];
      for (;;) {
        const { callId, answer } = await callModel();
        calls.push(callId);
        if ((answer.tool_calls ?? []).length === 0) return calls;
        await runTools(answer);
      }
    },
    async events(types?: readonly string[]): Promise<RecordedEvent[]> {
      const all: RecordedEvent[] = [];
      for await (const page of log.read(`thread-${threadId}`, types ? { types } : {})) all.push(...page);
      return all;
    },
  };
}

import { createEventRegistry } from "../../events/event-registry.ts";
import type { EventLog } from "../../events/log/event-log.ts";
import { MessagesAdded } from "../../events/messages.ts";
import { ModelResponded } from "../../events/model.ts";
import { RunCompleted, RunStarted } from "../../events/run.ts";
import { ThreadCreated, ThreadForked, ThreadRewound } from "../../events/thread.ts";
import { TitleSet } from "../../events/title.ts";
import { refold } from "../../projections/refold.ts";
import { createThreadReducer } from "../../reducers/built-in.ts";
import { appendDrafts } from "./append-drafts.ts";

export const reading = {
  registry: createEventRegistry(),
  reducer: createThreadReducer({ openFields: true }),
};

/** Records one turn of a thread, whose run end carries the hash of the state. */
export async function recordTurn(log: EventLog, threadId: string, runId: string): Promise<void> {
  const stream = `thread-${threadId}`;
  await appendDrafts(
    log,
    threadId,
    [
      RunStarted({ runId, owner: "test" }),
      MessagesAdded({ messages: [{ id: `${runId}-human`, type: "human", content: `Frage ${runId} 你好` }] }),
      ModelResponded({
        callId: `${runId}-call`,
        message: { id: `${runId}-ai`, type: "ai", content: "answer" },
        latencyMs: 1.5,
      }),
    ],
    { runId, by: "user" },
  );
  const { version } = await log.head(stream);
  const { stateHash } = await refold(log, reading, stream, version);
  await appendDrafts(log, threadId, [RunCompleted({ runId, stateHash })], { runId });
}

/** Records a thread of two turns with a rewind between, and a fork of it with a turn of its own. */
export async function recordFamily(log: EventLog): Promise<void> {
  await appendDrafts(log, "parent", [ThreadCreated({ metadata: { project: "test" } })]);
  await recordTurn(log, "parent", "r1");
  await appendDrafts(log, "parent", [TitleSet({ title: "A title", origin: "auto" })]);
  await recordTurn(log, "parent", "r2");
  await appendDrafts(log, "parent", [ThreadRewound({ toVersion: 6 })]);
  await recordTurn(log, "parent", "r3");
  let parentHash: string | undefined;
  for await (const page of log.read("thread-parent", { from: 5, to: 5 })) parentHash = page[0]?.metadata.hash;
  await appendDrafts(log, "child", [
    ThreadForked({
      parentThreadId: "parent",
      parentVersion: 5,
      ...(parentHash !== undefined && { parentHash }),
    }),
  ]);
  await recordTurn(log, "child", "c1");
}

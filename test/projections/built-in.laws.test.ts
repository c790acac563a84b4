import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { ArtifactsPresented } from "../../events/artifacts.ts";
import type { EventDraft } from "../../events/define-event.ts";
import { createEventRegistry } from "../../events/event-registry.ts";
import { createMemoryLog } from "../../events/log/memory.ts";
import { ModelCallStarted, ModelResponded } from "../../events/model.ts";
import { InterruptResolved, RunCompleted, RunInterrupted, RunStarted } from "../../events/run.ts";
import { StateUpdated } from "../../events/state-update.ts";
import {
  ContentRedacted,
  ThreadArchived,
  ThreadErased,
  ThreadForked,
  ThreadMetadataChanged,
  ThreadRewound,
} from "../../events/thread.ts";
import { TitleSet } from "../../events/title.ts";
import { ToolCallCompleted, ToolCallStarted } from "../../events/tool.ts";
import { builtInProjections } from "../../projections/built-in.ts";
import { catchUp } from "../../projections/catch-up.ts";
import { createMemoryProjectionStore } from "../../projections/memory-projection-store.ts";
import { initialRows } from "../../projections/row-session.ts";
import { createTableWriter } from "../../projections/table-writer.ts";
import { appendDrafts } from "./append-drafts.ts";

const registry = createEventRegistry();
const threads = ["a", "b", "__proto__", "报告"];
const thread = fc.constantFrom(...threads.slice(0, 2));
const version = fc.nat({ max: 12 });
const id = fc.constantFrom("1", "2", "3");
const view = { version: 0, from: null, edits: [], system: null };

const draft: fc.Arbitrary<EventDraft> = fc.oneof(
  id.map((runId) => RunStarted({ runId, owner: "me" })),
  fc.tuple(id, id).map(([runId, resumes]) => RunStarted({ runId, owner: "me", resumes })),
  id.map((runId) => RunCompleted({ runId })),
  fc
    .tuple(id, fc.uniqueArray(id, { minLength: 1 }))
    .map(([runId, ids]) =>
      RunInterrupted({ runId, interrupts: ids.map((one) => ({ id: one, kind: "approval", value: one })) }),
    ),
  id.map((interruptId) => InterruptResolved({ interruptId, decision: true })),
  id.map((callId) => ModelCallStarted({ callId, model: "__proto__", view, tools: null, requestHash: "h" })),
  id.map((callId) =>
    ModelResponded({
      callId,
      message: { id: callId, type: "ai", content: "" },
      usage: { input_tokens: 3, output_tokens: 1 },
      latencyMs: 1,
    }),
  ),
  id.map((callId) => ToolCallStarted({ callId, name: "constructor" })),
  fc
    .tuple(id, fc.nat(5000))
    .map(([callId, durationMs]) =>
      ToolCallCompleted({ callId, message: { id: callId, type: "tool", content: "" }, durationMs }),
    ),
  fc
    .tuple(fc.option(fc.string()), fc.constantFrom("user" as const, "auto" as const))
    .map(([title, origin]) => TitleSet({ title, origin })),
  fc.string().map((value) => StateUpdated({ field: "title", value, replace: true })),
  fc.array(fc.string(), { maxLength: 3 }).map((paths) => ArtifactsPresented({ paths })),
  fc
    .array(fc.string(), { maxLength: 3 })
    .map((value) => StateUpdated({ field: "artifacts", value, replace: true })),
  version.map((toVersion) => ThreadRewound({ toVersion })),
  fc
    .tuple(thread, version)
    .map(([parentThreadId, parentVersion]) => ThreadForked({ parentThreadId, parentVersion: parentVersion })),
  fc
    .dictionary(fc.string(), fc.constantFrom(null, 1, true))
    .map((metadata) => ThreadMetadataChanged({ metadata })),
  fc.constant(ThreadArchived({})),
  fc.constant(ThreadErased({})),
  fc.constant(ThreadErased({ deleted: true })),
  fc.array(version.map((at) => at + 1)).map((versions) => ContentRedacted({ rule: "title", versions })),
);

const history = fc.array(fc.tuple(fc.constantFrom(...threads), draft), { minLength: 1, maxLength: 40 });

describe.each(builtInProjections)("$name", (projection) => {
  test("has the same rows whether it followed the log or was rebuilt, however the events were cut", async () => {
    await fc.assert(
      fc.asyncProperty(
        history,
        fc.array(fc.integer({ min: 1, max: 9 }), { minLength: 1 }),
        async (drafts, cuts) => {
          // A fork of itself, or of a fork of it, cannot happen in a log.
          const seen = new Set<string>();
          const log = createMemoryLog();
          const live = createMemoryProjectionStore();
          const { name, version: ofCode } = projection;
          const update = async (store: typeof live, batchEvents: number) => {
            const rows = initialRows(projection, store);
            const table = await store.open({ name, version: ofCode, rows });
            // A new writer knows no rows: each has to be loaded.
            const writer = createTableWriter({ projection, store, log, registry, table });
            await catchUp({ log, writer, projection, batchEvents });
          };
          for (const [index, [threadId, one]] of drafts.entries()) {
            const first = !seen.has(threadId);
            seen.add(threadId);
            if (one.type === "ThreadForked") {
              const { parentThreadId } = one.data as { parentThreadId: string };
              if (!first || !seen.has(parentThreadId) || parentThreadId === threadId) continue;
            }
            await appendDrafts(log, threadId === "报告" ? "zh" : threadId, [one]);
            const cut = cuts[index % cuts.length] ?? 1;
            if (index % cut === 0) await update(live, cut);
          }
          await update(live, 3);
          const rebuilt = createMemoryProjectionStore();
          await update(rebuilt, 1000);
          if ((await log.streams()).length === 0) return;
          expect(await live.list(name)).toEqual(await rebuilt.list(name));
        },
      ),
      { numRuns: 60 },
    );
  });
});

import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { ArtifactsPresented } from "../../events/artifacts.ts";
import { briefOf } from "../../events/envelope.ts";
import { createEventRegistry } from "../../events/event-registry.ts";
import type { EventLog } from "../../events/log/event-log.ts";
import { createRedactingLog } from "../../events/log/redacting-log.ts";
import { openSqlite } from "../../events/log/sqlite.ts";
import { ModelCallStarted, ModelResponded } from "../../events/model.ts";
import { RunInterrupted, RunStarted } from "../../events/run.ts";
import { ContentRedacted } from "../../events/thread.ts";
import { TitleSet } from "../../events/title.ts";
import { ToolCallCompleted, ToolCallStarted } from "../../events/tool.ts";
import { builtInProjections } from "../../projections/built-in.ts";
import { type AnyProjection, defineProjection } from "../../projections/define-projection.ts";
import { createMemoryProjectionStore } from "../../projections/memory-projection-store.ts";
import { rebuildProjection } from "../../projections/rebuild.ts";
import { PoisonEventError } from "../../projections/table-writer.ts";
import { collect } from "../events/log/new-events.ts";
import { appendDrafts } from "./append-drafts.ts";
import { recordFamily } from "./sample-thread.ts";

const registry = createEventRegistry();
let folder: string;
let log: EventLog;
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), "threadfold-brief-"));
  ({ log } = await openSqlite(join(folder, "threads.db")));
});
afterEach(async () => {
  await log.close();
  await rm(folder, { recursive: true });
});

/** The same log, without the faster way to read it. */
function slower({ readAllBriefly, ...rest }: EventLog): EventLog {
  expect(readAllBriefly).toBeDefined();
  return rest;
}

function rebuild(projection: AnyProjection, source: EventLog, onError?: "skip") {
  const store = createMemoryProjectionStore();
  const options = { projection, log: source, store, registry, ...(onError && { onError }) };
  return rebuildProjection(options).then(async ({ table, skipped }) => ({
    rows: await store.list(table.table),
    events: table.events,
    checkpoint: table.checkpoint,
    skipped,
  }));
}

/** Events from which every built-in read model makes rows. */
async function recordWork(): Promise<void> {
  await recordFamily(log);
  const message = (id: string, type: "ai" | "tool") => ({ id, type, content: "42", tool_call_id: "c1" });
  const view = { version: 1, from: null, edits: [], system: null };
  await appendDrafts(
    log,
    "worker",
    [
      RunStarted({ runId: "r9", owner: "test" }),
      ModelCallStarted({ callId: "m1", model: "test:model", view, tools: null, requestHash: "0".repeat(64) }),
      ModelResponded({
        callId: "m1",
        message: message("a1", "ai"),
        usage: { input_tokens: 12, output_tokens: 3 },
        latencyMs: 5,
      }),
      ToolCallStarted({ callId: "c1", name: "count" }),
      ToolCallCompleted({ callId: "c1", message: message("t1", "tool"), durationMs: 7 }),
      ArtifactsPresented({ paths: ["/report.md"] }),
      RunInterrupted({ runId: "r9", interrupts: [{ id: "i1", kind: "approval", value: "Send it?" }] }),
    ],
    { runId: "r9" },
  );
}

describe("a projection of brief events", () => {
  const brief = builtInProjections.filter(({ envelope }) => envelope === "brief");

  test.each(brief)("$name has the same rows when the log reads no faster", async (projection) => {
    await recordWork();
    const built = await rebuild(projection, log);
    expect(built.rows.length).toBeGreaterThan(0);
    expect(built).toEqual(await rebuild(projection, slower(log)));
  });

  test("sees nothing of what was redacted", async () => {
    const titles = ["Card 4111", "Card 4222"].map((title) => TitleSet({ title, origin: "user" }));
    await appendDrafts(log, "t", titles);
    await appendDrafts(log, "t", [ContentRedacted({ rule: "/4\\d+/", reason: "a card", versions: [1] })]);
    const seen: unknown[] = [];
    const projection = defineProjection<object, "brief">({
      name: "seen-events",
      version: 1,
      envelope: "brief",
      handlers: { "*": (_, event) => void seen.push(event) },
    });
    const shown = createRedactingLog(log);
    await rebuild(projection, shown);
    expect(seen).toEqual((await collect(shown.readAll())).map(briefOf));
    expect(JSON.stringify(seen)).not.toContain("4111");
    expect(JSON.stringify(seen)).toContain("4222");
  });

  describe("on a poison event", () => {
    const projection = defineProjection<{ titles: number }, "brief">({
      name: "bitter-titles",
      version: 1,
      envelope: "brief",
      handlers: {
        TitleSet(rows, { data, stream }) {
          rows.put(stream, { titles: (rows.get(stream)?.titles ?? 0) + 1 });
          if (data.title === "bitter") throw new Error("bitter");
        },
      },
    });
    const logs = [
      ["reads briefly", (whole: EventLog) => whole],
      ["does not", slower],
    ] as const;

    test.each(logs)("records it with its id and passes it over, from a log that %s", async (_, from) => {
      const titles = ["sweet", "bitter", "sour"].map((title) => TitleSet({ title, origin: "user" }));
      const [, poison] = await appendDrafts(log, "t", titles);
      const { position, id: eventId, stream, version, type } = poison ?? {};
      const record = { position, eventId, stream, version, type, error: "Error: bitter" };
      const { rows, skipped } = await rebuild(projection, from(log), "skip");
      expect(skipped).toEqual([record]);
      expect(rows).toMatchObject([{ value: { titles: 2 } }]);
    });

    test.each(logs)("stops before it and names it, from a log that %s", async (_, from) => {
      const titles = ["sweet", "bitter"].map((title) => TitleSet({ title, origin: "user" }));
      const [, poison] = await appendDrafts(log, "t", titles);
      const stopped = rebuild(projection, from(log));
      await expect(stopped).rejects.toThrow(PoisonEventError);
      await expect(stopped).rejects.toMatchObject({
        event: { eventId: poison?.id, position: poison?.position },
      });
    });
  });
});

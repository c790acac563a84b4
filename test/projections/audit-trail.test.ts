import { beforeEach, describe, expect, test } from "vitest";
import { z } from "zod";
import { catalogue } from "../../events/catalogue.ts";
import { defineEvent } from "../../events/define-event.ts";
import { createEventRegistry } from "../../events/event-registry.ts";
import type { Json } from "../../events/json.ts";
import { createMemoryLog } from "../../events/log/memory.ts";
import { MessagesAdded } from "../../events/messages.ts";
import { RunStarted } from "../../events/run.ts";
import { ThreadErased } from "../../events/thread.ts";
import { TitleSet } from "../../events/title.ts";
import {
  type AuditEntry,
  auditTrail,
  describeAction,
  readAuditTrail,
} from "../../projections/audit-trail.ts";
import { newEvent } from "../events/log/new-events.ts";
import { createProjectionBench, type ProjectionBench } from "./fold-projection.ts";

let bench: ProjectionBench<AuditEntry>;
beforeEach(async () => {
  bench = createProjectionBench(auditTrail);
  await bench.record("a", [RunStarted({ runId: "r", owner: "me" })], { runId: "r" });
  const message = { id: "m", type: "human", content: "the secret" };
  await bench.record("a", [MessagesAdded({ messages: [message] })], { by: "user", runId: "r" });
  await bench.record("b", [TitleSet({ title: "the secret", origin: "auto" })], { by: "middleware:title" });
  await bench.update();
});

const actionsOf = async (query: Parameters<typeof readAuditTrail>[1]) =>
  (await readAuditTrail(bench.view, query)).map(({ row }) => `${row.by} ${row.action}`);

describe("the audit trail", () => {
  test("tells who did what and when, newest first, without content", async () => {
    expect(await actionsOf({})).toEqual([
      "middleware:title set the title",
      "user added 1 message",
      "runtime started run r",
    ]);
    const [entry] = await readAuditTrail(bench.view, { type: "MessagesAdded" });
    expect(entry?.row).toMatchObject({
      at: "2026-01-01T00:00:01.000Z",
      threadId: "a",
      version: 2,
      runId: "r",
    });
    expect(JSON.stringify(await bench.view.list())).not.toContain("secret");
  });

  test("is filtered by thread, emitter, type, run and words, and paged", async () => {
    expect(await actionsOf({ threadId: "b" })).toHaveLength(1);
    expect(await actionsOf({ by: "user" })).toEqual(["user added 1 message"]);
    expect(await actionsOf({ type: "TitleSet" })).toEqual(["middleware:title set the title"]);
    expect(await actionsOf({ runId: "r" })).toHaveLength(2);
    expect(await actionsOf({ search: "STARTED" })).toEqual(["runtime started run r"]);
    const [first] = await readAuditTrail(bench.view, { limit: 1 });
    expect(await actionsOf({ ...(first && { after: first.cursor }) })).toHaveLength(2);
  });

  test("keeps its entries when a thread is erased", async () => {
    await bench.record("a", [ThreadErased({})], { by: "user" });
    await bench.update();
    expect(await actionsOf({ threadId: "a" })).toHaveLength(3);
    expect((await actionsOf({ threadId: "a" }))[0]).toBe("user erased the thread's content");
  });

  test("names events that nobody described by their type", async () => {
    const PlanWritten = defineEvent({ type: "PlanWritten", schema: z.object({}) });
    const registry = createEventRegistry([{ source: "planner", events: [PlanWritten] }]);
    const log = createMemoryLog();
    await log.append("thread-p", [newEvent({ type: "PlanWritten", data: {} })], { expectedVersion: 0 });
    const own = createProjectionBench(auditTrail, { log, registry });
    await own.update();
    expect((await readAuditTrail(own.view)).map(({ row }) => row.action)).toEqual(["plan written"]);
  });

  test("has words for every event of the catalogue, whatever its data", () => {
    for (const type of Object.keys(catalogue)) {
      const hostile: readonly Json[] = [{}, null, { error: null, paths: 3 }];
      for (const data of hostile) {
        expect(describeAction({ type, data }).length).toBeGreaterThan(3);
      }
    }
  });
});

import { Readable } from "node:stream";
import type { OpenAPIHono } from "@hono/zod-openapi";
import { z } from "zod";
import { threadMachineDefinition } from "../../../actors/lifecycle.ts";
import { threadStream } from "../../../events/envelope.ts";
import type { Json } from "../../../events/json.ts";
import { asEncrypted } from "../../../events/keys/with-encryption.ts";
import { readBranches } from "../../../projections/branches.ts";
import { createStateReader } from "../../../projections/state-at.ts";
import { exportThreads } from "../../../projections/thread-export.ts";
import { type ListedThread, threadList } from "../../../projections/thread-list.ts";
import { readTrace } from "../../../projections/trace.ts";
import { verifyChecks, verifyThread } from "../../../projections/verify.ts";
import { createRunFactsReducer, runFactsField, type ThreadFacts } from "../../../reducers/run-facts.ts";
import { composeReducers } from "../../../reducers/thread-state.ts";
import { accessOf, type ServerEnv } from "../access.ts";
import { threadIdSchema } from "../compat/request-schemas.ts";
import { rowOf } from "../compat/thread-routes.ts";
import { agentFor, caughtUp, type Served, shownThread, threadFor } from "../served.ts";
import { addRoute } from "./add-route.ts";
import { expectedVersionOf, PreconditionFailedError } from "./problem.ts";
import { atVersion, versionAt } from "./state-routes.ts";

// A recursive schema has no end in the document.
const metadata = z.record(z.string(), z.unknown());
const listed = z.looseObject({
  threadId: z.string(),
  version: z.number().int(),
  title: z.string().nullable(),
});

async function* lines(texts: AsyncIterable<string>): AsyncGenerator<Uint8Array> {
  const encoder = new TextEncoder();
  for await (const text of texts) yield encoder.encode(`${text}\n`);
}

/** Threads as the log has them, and what can be done with their history. */
export function addThreadRoutes(app: OpenAPIHono<ServerEnv>, served: Served): void {
  const { store } = served;
  const options = { maxDepth: served.config.maxDepth };

  addRoute(
    app,
    {
      method: "get",
      path: "/log/v1/threads",
      summary: "Threads: pinned first, then the newest",
      query: z.object({
        search: z.string().max(200).optional(),
        limit: z.coerce.number().int().min(1).max(500).default(50),
        after: z.string().max(1000).optional(),
      }),
      response: z.object({ threads: z.array(listed), next: z.string().nullable() }),
    },
    options,
    async (c, { query }) => {
      await caughtUp(served);
      const { owner } = accessOf(c);
      const match = [{ path: ["delegatedBy"], equals: null as string | null }];
      if (owner !== undefined) match.push({ path: ["metadata", "owner"], equals: owner });
      const after = query.after === undefined ? undefined : cursorOf(query.after);
      const rows = await served.projections.view(threadList).list({
        match,
        limit: query.limit,
        ...(query.search !== undefined && { search: query.search }),
        ...(after && { after }),
      });
      const last = rows.length === query.limit ? rows.at(-1)?.cursor : undefined;
      const next = last ? Buffer.from(JSON.stringify(last)).toString("base64url") : null;
      return c.json({ threads: await Promise.all(rows.map(({ row }) => shownRow(served, row))), next });
    },
  );

  addRoute(
    app,
    { method: "get", path: "/log/v1/threads/{threadId}", summary: "One thread", response: listed },
    options,
    async (c, { params: { threadId = "" } }) => {
      const row = await shownRow(served, await rowOf(served, threadId));
      c.header("ETag", `"${threadId}@${row.version}"`);
      return c.json(row);
    },
  );

  addRoute(
    app,
    {
      method: "get",
      path: "/log/v1/threads/{threadId}/causation",
      summary:
        "What led to what: runs, model calls, tool calls and their effects, with times, tokens and, with prices, costs",
      query: z.object({ run: z.string().max(200).optional() }),
      response: z.object({ nodes: z.array(z.unknown()), currency: z.string().nullable() }),
    },
    options,
    async (c, { query, params: { threadId = "" } }) => {
      const { prices } = served.config;
      const nodes = await readTrace(store.log, threadId, {
        ...(query.run !== undefined && { runId: query.run }),
        ...(prices && { prices }),
      });
      return c.json({ nodes, currency: prices?.currency ?? null });
    },
  );

  addRoute(
    app,
    {
      method: "get",
      path: "/log/v1/threads/{threadId}/machine",
      summary: "The statechart, with the state that the thread is in at a position",
      query: z.object({ at: z.string().max(200).optional() }),
      response: z.object({ current: z.string(), version: z.number().int(), machine: z.unknown() }),
    },
    options,
    async (c, { query, params: { threadId = "" } }) => {
      const version = await versionAt(served, threadId, query.at);
      const facts = await factsAt(served, threadId, version);
      const rest = facts?.interrupts.some(({ answered }) => !answered)
        ? "interrupted"
        : (facts?.lastEnd ?? "idle");
      const current = facts?.run?.next ?? (rest === "completed" ? "idle" : rest);
      return c.json({ current, version, machine: threadMachineDefinition });
    },
  );

  addRoute(
    app,
    {
      method: "get",
      path: "/log/v1/threads/{threadId}/branches",
      summary: "The branches of a thread and the threads that were forked from it",
      response: z.looseObject({ threadId: z.string() }),
    },
    options,
    async (c, { params: { threadId = "" } }) => c.json(await readBranches(store.log, threadId)),
  );

  addRoute(
    app,
    {
      method: "post",
      path: "/log/v1/threads/{threadId}/fork",
      summary: "A new thread that stands on this one's history",
      body: z.object({
        at: z.union([z.string(), z.number()]).optional(),
        threadId: threadIdSchema.optional(),
        metadata: metadata.optional(),
      }),
      response: z.object({ threadId: z.string(), version: z.number().int() }),
      status: 201,
      problems: { 409: "A thread of this id is there.", 412: "The parent is at another version." },
    },
    options,
    async (c, { body, params: { threadId = "" } }) => {
      const expected = expectedVersionOf(c);
      const head = (await store.log.head(threadStream(threadId))).version;
      if (expected !== undefined && expected !== head) throw new PreconditionFailedError(expected, head);
      const at = await versionAt(served, threadId, body.at === undefined ? undefined : String(body.at));
      const row = await rowOf(served, threadId);
      // Whoever makes it, a fork belongs to the owner of what it shows.
      const { owner = accessOf(c).owner } = row.metadata;
      const { owner: _ignored, ...given } = { ...row.metadata, ...body.metadata } as Record<string, Json>;
      const thread = await threadFor(served, threadId);
      const fork = await thread.fork({
        at,
        metadata: { ...given, ...(owner !== undefined && { owner }) },
        ...(body.threadId !== undefined && { threadId: body.threadId }),
      });
      return c.json({ threadId: fork.id, version: 1 }, 201);
    },
  );

  addRoute(
    app,
    {
      method: "post",
      path: "/log/v1/threads/{threadId}/rewind",
      summary: "Let what follows build on an earlier version; later events stay readable",
      body: z.object({ to: z.union([z.string(), z.number()]), reason: z.string().max(1000).optional() }),
      response: z.object({ version: z.number().int() }),
      problems: { 409: "A run is open.", 412: "The thread is at another version." },
    },
    options,
    async (c, { body, params: { threadId = "" } }) => {
      const to = await versionAt(served, threadId, String(body.to));
      const thread = await threadFor(served, threadId);
      const reason = body.reason === undefined ? {} : { reason: body.reason };
      return c.json(await atVersion(c, (expected) => thread.rewind({ to, ...reason, ...expected })));
    },
  );

  addRoute(
    app,
    {
      method: "post",
      path: "/log/v1/threads/{threadId}/verify",
      summary: "Check hashes, fold, blobs and snapshots",
      body: z.object({ checks: z.array(z.enum(verifyChecks as [string, ...string[]])).optional() }),
      response: z.looseObject({ problems: z.array(z.unknown()) }),
    },
    options,
    async (c, { body, params: { threadId = "" } }) => {
      const { reducer, registry } = agentFor(served, (await rowOf(served, threadId)).metadata.graph_id);
      const checks = body.checks as readonly (typeof verifyChecks)[number][] | undefined;
      return c.json(
        await verifyThread({ ...served.whole, reducer, registry }, threadId, checks ? { checks } : {}),
      );
    },
  );

  addRoute(
    app,
    {
      method: "get",
      path: "/log/v1/threads/{threadId}/export",
      summary:
        "The thread as NDJSON that `threadfold import` reads; needs the scope admin, for it holds host paths",
      query: z.object({
        blobs: z.enum(["true", "false"]).default("false"),
        /** `true`: with what was redacted, so that the hashes of the thread fit its events. */
        whole: z.enum(["true", "false"]).default("false"),
      }),
      response: z.string(),
      type: "application/x-ndjson",
    },
    options,
    async (_c, { query, params: { threadId = "" } }) => {
      const { whole, redacted } = served;
      const isCut = query.whole === "false" && !asEncrypted(whole) && (await redacted.isRedacted(threadId));
      const { stored: _, ...cut } = store.log;
      const texts = exportThreads(
        isCut ? cut : whole.log,
        [threadId],
        query.blobs === "true" ? { blobs: store.blobs } : {},
      );
      return new Response(Readable.toWeb(Readable.from(lines(texts))) as ReadableStream<Uint8Array>, {
        headers: {
          "Content-Type": "application/x-ndjson",
          "Content-Disposition": `attachment; filename="${threadId.replace(/[^\w.-]/g, "_")}.ndjson"`,
        },
      });
    },
  );

  addRoute(
    app,
    {
      method: "get",
      path: "/log/v1/machine",
      summary: "The statechart of a thread",
      response: z.looseObject({}),
    },
    options,
    async (c) => c.json(threadMachineDefinition),
  );
}

/** A row of the list without what was redacted from its thread. */
async function shownRow(served: Served, { titles: _, ...row }: ListedThread) {
  if (row.title === null || !(await served.redacted.isRedacted(row.threadId))) return row;
  const { title } = await shownThread(served, row.metadata.graph_id, row.threadId).state();
  return { ...row, title: typeof title === "string" ? title : null };
}

async function factsAt(served: Served, threadId: string, version: number): Promise<ThreadFacts | undefined> {
  const { registry } = agentFor(served, undefined);
  const reducer = composeReducers([{ source: "runtime", reducers: [createRunFactsReducer(registry.types)] }]);
  const { log, side } = served.store;
  const state = await createStateReader({ log, side, reducer, registry }).stateAt(threadId, version);
  return state[runFactsField] as ThreadFacts | undefined;
}

function cursorOf(text: string): { order: string; key: string } | undefined {
  const schema = z.object({ order: z.string(), key: z.string() });
  try {
    return schema.parse(JSON.parse(Buffer.from(text, "base64url").toString("utf8")));
  } catch {
    return undefined;
  }
}

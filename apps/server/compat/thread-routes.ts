import { dirname } from "node:path";
import { Hono } from "hono";
import { HTTPException } from "hono/http-exception";
import { v7 as uuidv7 } from "uuid";
import type { Thread } from "../../../actors/agent-contract.ts";
import { VersionConflict } from "../../../events/log/event-log.ts";
import { ThreadCreated, ThreadMetadataChanged } from "../../../events/thread.ts";
import { deleteThread } from "../../../projections/erase-thread.ts";
import { accessOf, type ServerEnv } from "../access.ts";
import { foldersOfThread } from "../folders-of-thread.ts";
import { jsonBody } from "../json-body.ts";
import { refuseValues } from "../refuse-values.ts";
import { agentFor, listedThread, originOf, type Served, threadFor } from "../served.ts";
import { mergeMessages } from "./merge-messages.ts";
import { refuseUnoffered } from "./not-offered.ts";
import {
  threadCreateSchema,
  threadPatchSchema,
  threadPruneSchema,
  threadSearchSchema,
} from "./request-schemas.ts";
import { findThreads } from "./thread-search.ts";
import { wireThread } from "./thread-wire.ts";

/** Rows of the list for a thread that must be there. */
export async function rowOf(served: Served, threadId: string) {
  const row = await listedThread(served, threadId);
  if (!row) throw new HTTPException(404, { message: `Thread with ID ${threadId} not found` });
  return row;
}

const keptAdvice = "threads are kept until they are deleted.";

/** `/threads`: make, read, list, change, copy, delete. */
export function threadRoutes(served: Served): Hono<ServerEnv> {
  const app = new Hono<ServerEnv>();
  const { maxDepth } = served.config;

  app.post("/threads", async (c) => {
    const body = await jsonBody(c, threadCreateSchema, { maxDepth, optional: true });
    refuseUnoffered(body, { ttl: keptAdvice });
    for (const update of (body.supersteps ?? []).flatMap(({ updates }) => updates)) {
      refuseUnoffered(update, { command: "name what changes in values." });
    }
    const threadId = body.thread_id ?? uuidv7();
    const { owner } = accessOf(c);
    const before = await originOf(served, threadId);
    if (before) {
      if (owner !== undefined && before.owner !== owner) {
        throw new HTTPException(409, { message: "Thread already exists" });
      }
      if (body.if_exists !== "do_nothing") throw new HTTPException(409, { message: "Thread already exists" });
      return c.json(await wireThread(served, await rowOf(served, threadId)));
    }
    const { owner: _ignored, ...metadata } = body.metadata ?? {};
    const thread = agentFor(served, metadata.graph_id).thread(threadId);
    const stamped = { ...metadata, ...(owner !== undefined && { owner }) };
    try {
      await thread.record([ThreadCreated({ metadata: stamped })], { expectedVersion: 0 });
    } catch (error) {
      if (!(error instanceof VersionConflict)) throw error;
      throw new HTTPException(409, { message: "Thread already exists" });
    }
    try {
      await applySupersteps(thread, body.supersteps ?? []);
    } catch (error) {
      // Made whole, or not at all.
      await thread.passivate();
      await removeThread(served, threadId);
      throw error;
    }
    return c.json(await wireThread(served, await rowOf(served, threadId)));
  });

  app.post("/threads/search", async (c) => {
    const query = await jsonBody(c, threadSearchSchema, { maxDepth, optional: true });
    refuseUnoffered(query, { extract: "select values, and take from them what you need." });
    const { rows, total } = await findThreads(served, query, accessOf(c).owner);
    const page = rows.slice(query.offset, query.offset + query.limit);
    const found: unknown[] = [];
    // Lists name large content only: a hundred threads with images would be too much.
    for (const row of page)
      found.push(await wireThread(served, row, { select: query.select, inlineBlobBytes: 0 }));
    c.header("X-Pagination-Total", String(total));
    if (query.offset + page.length < total) {
      c.header("X-Pagination-Next", String(query.offset + page.length));
    }
    return c.json(found);
  });

  app.post("/threads/count", async (c) => {
    const query = await jsonBody(c, threadSearchSchema, { maxDepth, optional: true });
    return c.json((await findThreads(served, query, accessOf(c).owner)).total);
  });

  app.post("/threads/prune", async (c) => {
    const { thread_ids: ids, strategy } = await jsonBody(c, threadPruneSchema, { maxDepth });
    if (strategy === "keep_latest") {
      const message = 'Versions of a thread are its history and are not pruned. Use the strategy "delete".';
      throw new HTTPException(422, { message });
    }
    let pruned = 0;
    for (const threadId of new Set(ids)) {
      const origin = await originOf(served, threadId);
      const { owner } = accessOf(c);
      if (!origin || (owner !== undefined && origin.owner !== owner)) continue;
      await endThread(served, threadId);
      pruned += 1;
    }
    return c.json({ pruned_count: pruned });
  });

  app.get("/threads/:threadId", async (c) => {
    return c.json(await wireThread(served, await rowOf(served, c.req.param("threadId"))));
  });

  app.patch("/threads/:threadId", async (c) => {
    const { metadata, ttl } = await jsonBody(c, threadPatchSchema, { maxDepth });
    refuseUnoffered({ ttl }, { ttl: keptAdvice });
    const threadId = c.req.param("threadId");
    const { owner: _ignored, ...changes } = metadata ?? {};
    if (Object.keys(changes).length > 0) {
      const thread = await threadFor(served, threadId);
      await thread.record([ThreadMetadataChanged({ metadata: changes })]);
    }
    return c.json(await wireThread(served, await rowOf(served, threadId)));
  });

  app.delete("/threads/:threadId", async (c) => {
    await endThread(served, c.req.param("threadId"));
    return c.body(null, 204);
  });

  app.post("/threads/:threadId/copy", async (c) => {
    const threadId = c.req.param("threadId");
    const { metadata } = await rowOf(served, threadId);
    const thread = await threadFor(served, threadId);
    const copy = await thread.fork({ metadata: { ...metadata } });
    return c.json(await wireThread(served, await rowOf(served, copy.id)));
  });

  return app;
}

async function applySupersteps(
  thread: Thread,
  supersteps: readonly { readonly updates: readonly { readonly values?: unknown }[] }[],
): Promise<void> {
  for (const { values } of supersteps.flatMap(({ updates }) => updates)) {
    if (typeof values !== "object" || values === null) continue;
    refuseValues(values);
    const { messages, ...fields } = values as Record<string, unknown>;
    const added = messages === undefined ? {} : { messages: await mergeMessages(thread, messages) };
    await thread.update({ ...added, ...fields });
  }
}

/** Ends what a thread does and has in line, and deletes it. */
async function endThread(served: Served, threadId: string): Promise<void> {
  const thread = await threadFor(served, threadId);
  for (const run of served.runs.ofThread(threadId)) run.drop();
  for (const { runId } of await served.line.ofThread(threadId)) await served.line.leave(runId);
  await thread.cancel("the thread was deleted");
  await thread.passivate();
  await removeThread(served, threadId);
}

/** Deletes a thread with everything that was derived from it. */
export async function removeThread(served: Served, threadId: string): Promise<void> {
  const { whole: store, projections } = served;
  const { workspace_path: workspace } = await foldersOfThread(served, threadId);
  await deleteThread(store, threadId, {
    by: "client",
    registry: agentFor(served, undefined).registry,
    folders: [dirname(dirname(workspace))],
    projections: {
      store: projections.rows,
      projections: projections.runs.map(({ projection }) => projection),
    },
  });
}

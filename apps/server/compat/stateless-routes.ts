import { type Context, Hono } from "hono";
import { HTTPException } from "hono/http-exception";
import { v7 as uuidv7 } from "uuid";
import { z } from "zod";
import { ThreadCreated } from "../../../events/thread.ts";
import { accessOf, checkThread, type ServerEnv } from "../access.ts";
import { jsonBody } from "../json-body.ts";
import { agentFor, type Served } from "../served.ts";
import { pulledBody } from "../sse.ts";
import { assistantFor, launchRun } from "./launch-run.ts";
import { type RunBody, runSchema } from "./request-schemas.ts";
import type { TrackedRun } from "./run-directory.ts";
import { findRun, readRuns } from "./run-records.ts";
import { cancelOn, cancelRun, streamAnswer } from "./run-routes.ts";
import { framesOfRecord, framesOfTracked, modesOf } from "./run-streams.ts";
import { finalValues, waitText } from "./run-values.ts";
import { wireTracked } from "./run-wire.ts";
import { removeThread } from "./thread-routes.ts";

const cancelManySchema = z.object({
  thread_id: z.string().nullish(),
  run_ids: z.array(z.string()).nullish(),
  status: z.enum(["pending", "running", "all"]).nullish(),
});

/** Threads of stateless runs that are remembered for `/runs/:id/stream`. */
const maxRemembered = 10_000;

/** `/runs`: runs on a thread of their own, which goes with them unless it is kept. */
export function statelessRoutes(served: Served): Hono<ServerEnv> {
  const app = new Hono<ServerEnv>();
  const { maxDepth, heartbeatMs } = served.config;
  const threadOf = new Map<string, string>();

  const forget = async (graphId: string, threadId: string) => {
    await agentFor(served, graphId).thread(threadId).passivate();
    await removeThread(served, threadId);
  };
  const launch = async (c: Context<ServerEnv>, body: RunBody): Promise<TrackedRun> => {
    const threadId = uuidv7();
    const { owner } = accessOf(c);
    const { graph_id, assistant_id } = await assistantFor(served, body.assistant_id);
    const metadata = { graph_id, assistant_id, stateless: true, ...(owner !== undefined && { owner }) };
    await agentFor(served, graph_id)
      .thread(threadId)
      .record([ThreadCreated({ metadata })]);
    const tracked = await launchRun(served, threadId, body, { stateless: true }).catch(
      async (error: unknown) => {
        // Nobody knows of the thread.
        await forget(graph_id, threadId);
        throw error;
      },
    );
    threadOf.set(tracked.runId, threadId);
    const [oldest] = threadOf.keys();
    if (threadOf.size > maxRemembered && oldest !== undefined) threadOf.delete(oldest);
    return tracked;
  };
  /** Takes the thread away once nobody follows its run any more. */
  const cleanUp = async ({ threadId, graphId, finished }: TrackedRun, body: RunBody) => {
    if (body.on_completion === "keep") return;
    await finished;
    await forget(graphId, threadId);
  };
  const cleanUpLater = (tracked: TrackedRun, body: RunBody) => {
    const work = cleanUp(tracked, body)
      .catch((error: unknown) =>
        served.logger.warn(
          { err: error, threadId: tracked.threadId },
          "a stateless thread could not be removed",
        ),
      )
      .finally(() => served.background.delete(work));
    served.background.add(work);
  };
  const headersOf = ({ runId }: TrackedRun) => ({
    "Content-Location": `/runs/${runId}`,
    Location: `/runs/${runId}/stream`,
  });

  app.post("/runs/stream", async (c) => {
    const body = await jsonBody(c, runSchema, { maxDepth });
    const tracked = await launch(c, body);
    const subgraphs = body.stream_subgraphs ?? false;
    const frames = framesOfTracked(served, tracked, { modes: modesOf(body.stream_mode), subgraphs });
    return streamAnswer(served, frames, {
      headers: headersOf(tracked),
      onClose(early) {
        if (early && body.on_disconnect === "cancel") cancelOn(served, tracked);
        cleanUpLater(tracked, body);
      },
    });
  });

  app.post("/runs/wait", async (c) => {
    const body = await jsonBody(c, runSchema, { maxDepth });
    const tracked = await launch(c, body);
    const text = waitText(finalValues(served, tracked.threadId, tracked.runId));
    const onClose = (early: boolean) => {
      if (early && body.on_disconnect === "cancel") cancelOn(served, tracked);
      cleanUpLater(tracked, body);
    };
    return new Response(pulledBody(text, { heartbeatMs, filler: "\n", onClose }), {
      headers: { "Content-Type": "application/json", ...headersOf(tracked) },
    });
  });

  app.post("/runs", async (c) => {
    const body = await jsonBody(c, runSchema, { maxDepth });
    const tracked = await launch(c, body);
    if (body.on_completion === "delete") cleanUpLater(tracked, body);
    return c.json(wireTracked(tracked), 200, headersOf(tracked));
  });

  app.post("/runs/batch", async (c) => {
    const bodies = await jsonBody(c, z.array(runSchema).min(1).max(100), { maxDepth });
    const started: unknown[] = [];
    for (const body of bodies) {
      const tracked = await launch(c, body);
      if (body.on_completion === "delete") cleanUpLater(tracked, body);
      started.push(wireTracked(tracked));
    }
    return c.json(started);
  });

  app.post("/runs/cancel", async (c) => {
    const body = await jsonBody(c, cancelManySchema, { maxDepth });
    const action = c.req.query("action") === "rollback" ? "rollback" : "interrupt";
    const access = accessOf(c);
    const threadIds = body.thread_id ? [body.thread_id] : [...new Set([...threadOf.values()])];
    for (const threadId of threadIds) {
      const seen = await checkThread(served, access, threadId).then(
        () => true,
        () => false,
      );
      if (!seen) {
        if (body.thread_id) throw new HTTPException(404, { message: `Thread with ID ${threadId} not found` });
        continue;
      }
      const open: string[] = [];
      for (const run of served.runs.ofThread(threadId)) if (run.status() === "pending") open.push(run.runId);
      for await (const run of readRuns(served.store.log, threadId)) {
        if (run.status === "running") open.push(run.runId);
        break;
      }
      for (const runId of open) {
        if (body.run_ids && !body.run_ids.includes(runId)) continue;
        await (await cancelRun(served, threadId, runId, action)).ended;
      }
    }
    return c.body(null, 204);
  });

  app.get("/runs/:runId/stream", async (c) => {
    const runId = c.req.param("runId");
    const threadId = threadOf.get(runId);
    if (threadId === undefined) throw new HTTPException(404, { message: "Run not found" });
    await checkThread(served, accessOf(c), threadId);
    const modes = c.req.queries("stream_mode");
    const options = {
      modes: modesOf(modes ?? ["values", "messages-tuple", "custom"]),
      lastEventId: c.req.header("last-event-id"),
    };
    const tracked = served.runs.get(runId);
    const record = tracked ? undefined : await findRun(served.store.log, threadId, runId);
    if (!tracked && !record) throw new HTTPException(404, { message: "Run not found" });
    const frames = tracked
      ? framesOfTracked(served, tracked, options)
      : framesOfRecord(served, record as NonNullable<typeof record>, options);
    return streamAnswer(served, frames, { headers: { Location: `/runs/${runId}/stream` } });
  });

  return app;
}

import { type Context, Hono } from "hono";
import { HTTPException } from "hono/http-exception";
import { v7 as uuidv7 } from "uuid";
import { z } from "zod";
import { ThreadCreated } from "../../../events/thread.ts";
import { accessOf, checkThread, type ServerEnv } from "../access.ts";
import { jsonBody } from "../json-body.ts";
import { agentFor, originOf, type Served } from "../served.ts";
import { pulledBody } from "../sse.ts";
import { assistantFor, launchRun } from "./launch-run.ts";
import { type RunBody, runSchema, threadSearchSchema } from "./request-schemas.ts";
import type { TrackedRun } from "./run-directory.ts";
import { findRun, readRuns } from "./run-records.ts";
import {
  cancelActionOf,
  cancelOn,
  cancelRun,
  followOf,
  followOfQuery,
  locationOf,
  streamAnswer,
} from "./run-routes.ts";
import { framesOfRecord, framesOfTracked } from "./run-streams.ts";
import { finalValues, waitText } from "./run-values.ts";
import { wireTracked } from "./run-wire.ts";
import { removeThread } from "./thread-routes.ts";
import { findThreads } from "./thread-search.ts";
import { waitingRuns } from "./waiting-runs.ts";

const cancelManySchema = z.object({
  thread_id: z.string().nullish(),
  run_ids: z.array(z.string()).nullish(),
  status: z.enum(["pending", "running", "all"]).nullish(),
});

/** `/runs`: runs on a thread of their own, which goes with them unless it is kept. */
export function statelessRoutes(served: Served): Hono<ServerEnv> {
  const app = new Hono<ServerEnv>();
  const { maxDepth, heartbeatMs } = served.config;

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
    return launchRun(served, threadId, body, { stateless: true }).catch(async (error: unknown) => {
      // Nobody knows of the thread.
      await forget(graph_id, threadId);
      throw error;
    });
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
  const pathOf = ({ runId }: TrackedRun) => `/runs/${runId}`;

  app.post("/runs/stream", async (c) => {
    const body = await jsonBody(c, runSchema, { maxDepth });
    const tracked = await launch(c, body);
    const follow = followOf(body);
    return streamAnswer(served, framesOfTracked(served, tracked, follow), {
      headers: locationOf(pathOf(tracked), follow),
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
      headers: { "Content-Type": "application/json", ...locationOf(pathOf(tracked)) },
    });
  });

  app.post("/runs", async (c) => {
    const body = await jsonBody(c, runSchema, { maxDepth });
    const tracked = await launch(c, body);
    if (body.on_completion === "delete") cleanUpLater(tracked, body);
    return c.json(wireTracked(tracked), 200, locationOf(pathOf(tracked)));
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
    const action = cancelActionOf(c);
    const { thread_id: threadId, run_ids: runIds, status = "all" } = body;
    if (!threadId && !runIds && !body.status) {
      const message = "Name what is cancelled: a thread_id, run_ids, or a status (pending, running, all).";
      throw new HTTPException(422, { message });
    }
    const access = accessOf(c);
    if (threadId) await checkThread(served, access, threadId);
    for (const threadOfRun of threadId ? [threadId] : await busyThreads(served, access.owner)) {
      for (const run of await openRuns(served, threadOfRun)) {
        if (runIds && !runIds.includes(run.runId)) continue;
        if (status !== "all" && status !== run.status) continue;
        await cancelRun(served, threadOfRun, run.runId, action).then(({ ended }) => ended, passOver);
      }
    }
    return c.body(null, 204);
  });

  app.get("/runs/:runId/stream", async (c) => {
    const runId = c.req.param("runId");
    const options = followOfQuery(c);
    // The thread of a stateless run has the id of its run.
    await checkThread(served, accessOf(c), runId);
    const tracked = served.runs.get(runId);
    const record = tracked ? undefined : await findRun(served.store.log, runId, runId);
    const frames = tracked
      ? framesOfTracked(served, tracked, options)
      : record && framesOfRecord(served, record, options);
    if (!frames) throw new HTTPException(404, { message: "Run not found" });
    return streamAnswer(served, frames, { headers: locationOf(`/runs/${runId}`, options) });
  });

  return app;
}

/** A run that ended by itself meanwhile needs no cancelling. */
function passOver(error: unknown): void {
  if (!(error instanceof HTTPException)) throw error;
}

/** Threads that have something to cancel, in all that the caller may see. */
async function busyThreads(served: Served, owner: string | undefined): Promise<readonly string[]> {
  const query = threadSearchSchema.parse({ status: "busy" });
  const { rows } = await findThreads(served, query, owner);
  const threadIds = new Set(rows.map(({ threadId }) => threadId));
  for (const { threadId } of served.runs.open()) {
    const origin = await originOf(served, threadId);
    if (origin && (owner === undefined || origin.owner === owner)) threadIds.add(threadId);
  }
  return [...threadIds];
}

/** Runs of a thread that are not over. First those in line, so that none of them begins when the open one ends. */
async function openRuns(
  served: Served,
  threadId: string,
): Promise<readonly { readonly runId: string; readonly status: "pending" | "running" }[]> {
  const waiting = await waitingRuns(served, threadId);
  const pending = [
    ...served.runs.ofThread(threadId).filter((run) => run.status() === "pending"),
    ...waiting.filter(({ state }) => state !== "parked"),
  ].map(({ runId }) => ({ runId, status: "pending" as const }));
  for await (const { runId, status } of readRuns(served.store.log, threadId)) {
    return status === "running" ? [...pending, { runId, status }] : pending;
  }
  return pending;
}

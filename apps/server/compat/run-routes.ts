import { type Context, Hono } from "hono";
import { HTTPException } from "hono/http-exception";
import { z } from "zod";
import { VersionConflict } from "../../../events/log/event-log.ts";
import { ThreadCreated } from "../../../events/thread.ts";
import { accessOf, checkThread, type ServerEnv } from "../access.ts";
import { checked, jsonBody } from "../json-body.ts";
import { agentFor, type Served } from "../served.ts";
import { pulledBody, type SseFrame, sseBody, sseHeaders } from "../sse.ts";
import { assistantFor, endOpenRun, launchRun } from "./launch-run.ts";
import { type RunBody, runSchema, threadIdSchema } from "./request-schemas.ts";
import type { TrackedRun } from "./run-directory.ts";
import { findRun, readRuns } from "./run-records.ts";
import { type FollowOptions, framesOfRecord, framesOfTracked, modesOf } from "./run-streams.ts";
import { finalValues, waitText } from "./run-values.ts";
import { isHidden, wireRecord, wireTracked, wireWaiting } from "./run-wire.ts";
import { framesOfThread, threadStreamModes } from "./thread-stream.ts";
import { untilTracked, waitingRun, waitingRuns } from "./waiting-runs.ts";

/** Answers with an event stream. */
export function streamAnswer(
  served: Served,
  frames: AsyncIterable<SseFrame>,
  options: {
    readonly headers: Readonly<Record<string, string>>;
    readonly onClose?: (early: boolean) => void;
  },
): Response {
  const { metrics, config } = served;
  metrics.openStreams.inc();
  const body = sseBody(frames, {
    heartbeatMs: config.heartbeatMs,
    onClose(early) {
      metrics.openStreams.dec();
      options.onClose?.(early);
    },
  });
  return new Response(body, { headers: { ...sseHeaders, ...options.headers } });
}

/** Cancels a run whose client went away, when that was asked for. */
export function cancelOn(served: Served, tracked: TrackedRun): void {
  if (tracked.drop()) return;
  tracked.started
    .then(({ run }) => run?.cancel("the client went away"))
    .catch((error: unknown) =>
      served.logger.debug({ err: error, runId: tracked.runId }, "cancel after disconnect"),
    );
}

/** Where the run is, for clients that come back: with what they asked for, which a GET cannot say in its body. */
export function locationOf(
  run: string,
  { modes = [], subgraphs }: Partial<Pick<FollowOptions, "modes" | "subgraphs">> = {},
) {
  const query = new URLSearchParams(modes.map((mode) => ["stream_mode", mode]));
  if (subgraphs) query.set("stream_subgraphs", "true");
  return {
    "Content-Location": run,
    Location: query.size === 0 ? `${run}/stream` : `${run}/stream?${query}`,
  };
}

function pathOf({ threadId, runId }: Pick<TrackedRun, "threadId" | "runId">): string {
  return `/threads/${threadId}/runs/${runId}`;
}

/** What the body of a request wants to see of its run. */
export function followOf(body: RunBody) {
  return { modes: modesOf(body.stream_mode), subgraphs: body.stream_subgraphs ?? false };
}

/** What a GET wants to see of a run, and from where on. */
export function followOfQuery(c: Context) {
  const modes = (c.req.queries("stream_mode") ?? []).flatMap(splitModes);
  return {
    modes: modesOf(modes.length > 0 ? modes : ["values", "messages-tuple", "custom"]),
    lastEventId: c.req.header("last-event-id"),
    subgraphs: isTrue(c.req.query("stream_subgraphs")),
  };
}

function isTrue(text: string | undefined): boolean {
  return text === "1" || text === "true";
}

async function ensureThread(served: Served, c: Context<ServerEnv>, body: RunBody): Promise<string> {
  const threadId = c.req.param("threadId") ?? "";
  const { owner } = accessOf(c);
  try {
    await checkThread(served, accessOf(c), threadId);
  } catch (error) {
    if (body.if_not_exists !== "create") throw error;
    checked(z.object({ thread_id: threadIdSchema }), { thread_id: threadId });
    const { assistant_id, graph_id } = await assistantFor(served, body.assistant_id);
    const metadata = { graph_id, assistant_id, ...(owner !== undefined && { owner }) };
    try {
      await agentFor(served, graph_id)
        .thread(threadId)
        .record([ThreadCreated({ metadata })], { expectedVersion: 0 });
    } catch (conflict) {
      if (!(conflict instanceof VersionConflict)) throw conflict;
      // Somebody made it meanwhile, or it is somebody else's.
      await checkThread(served, accessOf(c), threadId);
    }
  }
  return threadId;
}

const runListSchema = z.object({
  status: z.enum(["pending", "running", "error", "success", "timeout", "interrupted"]).optional(),
});

/** `/threads/:id/runs` */
export function runRoutes(served: Served): Hono<ServerEnv> {
  const app = new Hono<ServerEnv>();
  const { log, side } = served.store;
  const { maxDepth, heartbeatMs } = served.config;
  const launch = async (c: Context<ServerEnv>) => {
    const body = await jsonBody(c, runSchema, { maxDepth });
    const threadId = await ensureThread(served, c, body);
    return { body, tracked: await launchRun(served, threadId, body) };
  };
  const recordFor = async (threadId: string, runId: string) => {
    const record = await findRun(log, threadId, runId);
    if (!record || (await isHidden(side, threadId, runId))) {
      throw new HTTPException(404, { message: "Run not found" });
    }
    return record;
  };

  app.get("/threads/:threadId/stream", (c) => {
    const named = (c.req.queries("stream_mode") ?? []).flatMap(splitModes);
    const modes = (named.length === 0 ? ["run_modes"] : named).map((mode) => {
      const known = threadStreamModes.find((one) => one === mode);
      if (known) return known;
      const message = `There is no stream mode "${mode.slice(0, 40)}" of threads. Use ${threadStreamModes.join(", ")}.`;
      throw new HTTPException(422, { message });
    });
    const gone = new AbortController();
    const frames = framesOfThread(served, c.req.param("threadId"), {
      modes,
      lastEventId: c.req.header("last-event-id"),
      signal: AbortSignal.any([gone.signal, served.closing]),
    });
    return streamAnswer(served, frames, { headers: {}, onClose: () => gone.abort() });
  });

  app.post("/threads/:threadId/runs", async (c) => {
    const { tracked } = await launch(c);
    return c.json(wireTracked(tracked), 200, { "Content-Location": pathOf(tracked) });
  });

  app.post("/threads/:threadId/runs/stream", async (c) => {
    const { body, tracked } = await launch(c);
    const follow = followOf(body);
    return streamAnswer(served, framesOfTracked(served, tracked, follow), {
      headers: locationOf(pathOf(tracked), follow),
      onClose: (early) => {
        if (early && body.on_disconnect === "cancel") cancelOn(served, tracked);
      },
    });
  });

  app.post("/threads/:threadId/runs/wait", async (c) => {
    const { body, tracked } = await launch(c);
    const onClose = (early: boolean) => {
      if (early && body.on_disconnect === "cancel") cancelOn(served, tracked);
    };
    const text = waitText(finalValues(served, tracked.threadId, tracked.runId));
    return new Response(pulledBody(text, { heartbeatMs, filler: "\n", onClose }), {
      headers: { "Content-Type": "application/json", ...locationOf(pathOf(tracked)) },
    });
  });

  app.get("/threads/:threadId/runs", async (c) => {
    const threadId = c.req.param("threadId");
    const { limit = "10", offset = "0" } = c.req.query();
    const { status } = checked(runListSchema, c.req.query());
    const wanted = { limit: wholeNumber("limit", limit), offset: wholeNumber("offset", offset) };
    const found: Record<string, unknown>[] = [];
    const pending = served.runs.ofThread(threadId).filter((run) => run.status() === "pending");
    const others = await waitingRuns(served, threadId);
    for (const run of others.toReversed()) found.push(wireWaiting(run));
    for (const run of pending.toReversed()) found.push(wireTracked(run));
    for await (const record of readRuns(log, threadId)) {
      if (await isHidden(side, threadId, record.runId)) continue;
      found.push(wireRecord(record, served.runs.get(record.runId)));
      if (status === undefined && found.length >= wanted.offset + wanted.limit) break;
    }
    const fits = status === undefined ? found : found.filter((run) => run.status === status);
    return c.json(fits.slice(wanted.offset, wanted.offset + wanted.limit));
  });

  app.get("/threads/:threadId/runs/:runId", async (c) => {
    const { threadId, runId } = c.req.param();
    const tracked = served.runs.get(runId);
    if (tracked?.threadId === threadId && tracked.status() === "pending") return c.json(wireTracked(tracked));
    const waiting = tracked ? undefined : await waitingRun(served, threadId, runId);
    if (waiting) return c.json(wireWaiting(waiting));
    return c.json(wireRecord(await recordFor(threadId, runId), tracked));
  });

  app.delete("/threads/:threadId/runs/:runId", async (c) => {
    const { threadId, runId } = c.req.param();
    if (await takeOutOfLine(served, threadId, runId)) return c.body(null, 204);
    const record = await recordFor(threadId, runId);
    if (record.status === "running") {
      throw new HTTPException(409, { message: "The run is open. Cancel it before it is deleted." });
    }
    // Its events are the thread's history; it is only not listed any more.
    await side.put("hidden-run", `${threadId}/${runId}`, true);
    return c.body(null, 204);
  });

  app.get("/threads/:threadId/runs/:runId/join", async (c) => {
    const { threadId, runId } = c.req.param();
    await untilTracked(served, threadId, runId);
    const tracked = served.runs.get(runId);
    const isTracked = tracked?.threadId === threadId;
    if (!isTracked) await recordFor(threadId, runId);
    const cancels = isTrue(c.req.query("cancel_on_disconnect"));
    const onClose = (early: boolean) => {
      if (early && cancels && isTracked) cancelOn(served, tracked);
    };
    const text = waitText(finalValues(served, threadId, runId));
    const headers = { "Content-Type": "application/json" };
    return new Response(pulledBody(text, { heartbeatMs, filler: "\n", onClose }), { headers });
  });

  app.get("/threads/:threadId/runs/:runId/stream", async (c) => {
    const { threadId, runId } = c.req.param();
    const options = followOfQuery(c);
    await untilTracked(served, threadId, runId);
    const tracked = served.runs.get(runId);
    const isTracked = tracked?.threadId === threadId;
    const frames = isTracked
      ? framesOfTracked(served, tracked, options)
      : framesOfRecord(served, await recordFor(threadId, runId), options);
    const cancels = isTrue(c.req.query("cancel_on_disconnect"));
    return streamAnswer(served, frames, {
      headers: locationOf(pathOf({ threadId, runId }), options),
      onClose: (early) => {
        if (early && cancels && isTracked) cancelOn(served, tracked);
      },
    });
  });

  app.post("/threads/:threadId/runs/:runId/cancel", async (c) => {
    const { threadId, runId } = c.req.param();
    const { ended } = await cancelRun(served, threadId, runId, cancelActionOf(c));
    if (!isTrue(c.req.query("wait"))) return c.body(null, 202);
    await ended;
    return c.body(null, 204);
  });

  return app;
}

/** How a request wants a run to end. @throws {HTTPException} 422 */
export function cancelActionOf(c: Context): "interrupt" | "rollback" {
  const { action = "interrupt" } = c.req.query();
  if (action === "interrupt" || action === "rollback") return action;
  throw new HTTPException(422, { message: 'The action is "interrupt" or "rollback".' });
}

/** Takes a run out that stands in line. False: it has begun, or there is none. */
async function takeOutOfLine(served: Served, threadId: string, runId: string): Promise<boolean> {
  const tracked = served.runs.get(runId);
  const isDropped = tracked?.threadId === threadId && tracked.drop();
  if (!isDropped && !(await waitingRun(served, threadId, runId))) return false;
  await served.line.leave(runId);
  return true;
}

/**
 * Begins to cancel a run. `ended` resolves when its end is recorded.
 *
 * @throws {HTTPException} 404, 409 it is over
 */
export async function cancelRun(
  served: Served,
  threadId: string,
  runId: string,
  action: "interrupt" | "rollback",
): Promise<{ readonly ended: Promise<void> }> {
  if (await takeOutOfLine(served, threadId, runId)) return { ended: Promise.resolve() };
  const record = await findRun(served.store.log, threadId, runId);
  if (!record) throw new HTTPException(404, { message: "Run not found" });
  if (record.status !== "running") {
    throw new HTTPException(409, { message: `Run ${runId} is over: its status is ${record.status}.` });
  }
  const thread = agentFor(served, record.metadata.graph_id).thread(threadId);
  const ended = endOpenRun(served, thread, action);
  ended.catch(() => undefined);
  return { ended };
}

function splitModes(text: string): string[] {
  return text.split(",");
}

function wholeNumber(name: string, text: string): number {
  const value = Number(text);
  if (!Number.isInteger(value) || value < 0) {
    throw new HTTPException(422, { message: `"${name}" is a whole number, not "${text.slice(0, 40)}".` });
  }
  return value;
}

import type { OpenAPIHono } from "@hono/zod-openapi";
import { HTTPException } from "hono/http-exception";
import { z } from "zod";
import { createRunItems } from "../../../actors/run-items.ts";
import {
  compareRebuild,
  type RebuildOptions,
  type RebuildProgress,
  rebuildProjection,
} from "../../../projections/rebuild.ts";
import type { ServerEnv } from "../access.ts";
import { describeError } from "../compat/errors.ts";
import { streamAnswer } from "../compat/run-routes.ts";
import { agentFor, type Served } from "../served.ts";
import type { SseFrame } from "../sse.ts";
import { addRoute } from "./add-route.ts";

const projection = z.looseObject({
  name: z.string(),
  version: z.number().int(),
  state: z.string(),
  events: z.number().int(),
  lag: z.object({ events: z.number().int(), more: z.boolean(), seconds: z.number() }),
});

const progressSchema = z.object({
  events: z.number().int(),
  total: z.number().int().nullable(),
  rate: z.number(),
  secondsLeft: z.number().nullable(),
  position: z.string().nullable(),
});

/** The read models of a server. */
export function addProjectionRoutes(app: OpenAPIHono<ServerEnv>, served: Served): void {
  const { projections, store } = served;
  const options = { maxDepth: served.config.maxDepth };

  addRoute(
    app,
    {
      method: "get",
      path: "/log/v1/projections",
      summary: "The projections with how far they are behind the log",
      response: z.object({ projections: z.array(projection) }),
    },
    options,
    async (c) => {
      const found = await Promise.all(
        projections.runs.map(async (run) => ({ ...(await run.status()), lag: await run.lag() })),
      );
      return c.json({ projections: found });
    },
  );

  addRoute(
    app,
    {
      method: "post",
      path: "/log/v1/projections/{name}/verify",
      summary: "Build the rows anew beside the live ones and compare them",
      response: z.looseObject({}),
    },
    options,
    async (c, { params: { name = "" } }) => {
      return c.json(await compareRebuild(partsOf(name)));
    },
  );

  addRoute(
    app,
    {
      method: "post",
      path: "/log/v1/projections/{name}/rebuild",
      summary:
        "Build the rows anew beside the live ones and switch to them: frames `progress`, then `done` or `error`; who goes away stops it, and the next call goes on",
      query: z.object({ fresh: z.enum(["true", "false"]).default("false") }),
      response: progressSchema,
      type: "text/event-stream",
      problems: { 409: "The projection has no rows on disk." },
    },
    options,
    async (_c, { query, params: { name = "" } }) => {
      const parts = partsOf(name);
      const gone = new AbortController();
      const frames = rebuildFrames({
        ...parts,
        fresh: query.fresh === "true",
        signal: AbortSignal.any([gone.signal, served.closing]),
      });
      return streamAnswer(served, frames, { headers: {}, onClose: () => gone.abort() });
    },
  );

  function partsOf(name: string): RebuildOptions {
    const run = projections.runs.find((one) => one.projection.name === name);
    if (!run) throw new HTTPException(404, { message: `There is no projection "${name.slice(0, 80)}".` });
    const { projection } = run;
    if (projection.keep !== "disk") {
      throw new HTTPException(409, {
        message: `The rows of ${name} are in memory and built with every start.`,
      });
    }
    const { registry } = agentFor(served, undefined);
    return { projection, log: store.log, store: projections.rows, registry };
  }
}

/** A rebuild as frames: it is done while they are read. */
function rebuildFrames(options: RebuildOptions): AsyncIterable<SseFrame> {
  const frames = createRunItems<SseFrame>();
  const onProgress = (progress: RebuildProgress) => {
    const { events, total = null, rate, secondsLeft = null, position = null } = progress;
    frames.push({ event: "progress", data: { events, total, rate, secondsLeft, position } });
  };
  rebuildProjection({ ...options, onProgress }).then(
    ({ table, rows, skipped, resumedAt }) => {
      const { version, events, checkpoint: position = null } = table;
      frames.push({ event: "done", data: { version, rows, events, position, skipped, resumedAt } });
      frames.end();
    },
    (error: unknown) => {
      const title = error instanceof Error ? error.name : "Error";
      frames.push({ event: "error", data: { title, detail: describeError(error).text } });
      frames.end();
    },
  );
  return frames;
}

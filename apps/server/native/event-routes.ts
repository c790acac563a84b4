import type { OpenAPIHono } from "@hono/zod-openapi";
import { HTTPException } from "hono/http-exception";
import { z } from "zod";
import { type RecordedEvent, threadIdOf, threadStream } from "../../../events/envelope.ts";
import { accessOf, type ServerEnv } from "../access.ts";
import { eventAt } from "../compat/checkpoint-id.ts";
import { streamAnswer } from "../compat/run-routes.ts";
import { originOf, type Served } from "../served.ts";
import { addRoute } from "./add-route.ts";
import { briefEvent } from "./brief-event.ts";
import { liveEvents } from "./live-events.ts";
import { eventSchema, shownEvent } from "./shown-event.ts";

const types = z
  .union([z.string(), z.array(z.string())])
  .transform((given) => [given].flat().flatMap((text) => text.split(",")))
  .optional();
const version = z.coerce.number().int().min(0).optional();
const limit = z.coerce.number().int().min(1).max(1000).default(100);
const live = z.object({
  type: types,
  after: z.string().optional(),
  /** `none`: events come without their data. */
  data: z.enum(["whole", "none"]).default("whole"),
});

/** Events of one thread and of all, stored and live. */
export function addEventRoutes(app: OpenAPIHono<ServerEnv>, served: Served): void {
  const { log } = served.store;
  const { maxDepth } = served.config;
  const options = { maxDepth };

  addRoute(
    app,
    {
      method: "get",
      path: "/log/v1/threads/{threadId}/events/live",
      summary: "Follow the events of a thread; ids are positions, Last-Event-ID resumes",
      query: live,
      response: eventSchema,
      type: "text/event-stream",
    },
    options,
    async (c, { query, params }) => {
      const stream = threadStream(params.threadId ?? "");
      const after = c.req.header("last-event-id") ?? query.after;
      const bare = query.data === "none";
      const frames = liveEvents(served, {
        stream,
        after,
        types: query.type,
        isShown: async () => true,
        bare,
      });
      return streamAnswer(served, frames.items, { headers: {}, onClose: frames.close });
    },
  );

  addRoute(
    app,
    {
      method: "get",
      path: "/log/v1/threads/{threadId}/events",
      summary: "Events of a thread by version",
      query: z.object({
        from: version,
        to: version,
        type: types,
        run: z.string().optional(),
        limit,
        dir: z.enum(["asc", "desc"]).default("asc"),
        /** `brief`: long texts and lists in their data are cut. */
        data: z.enum(["whole", "brief"]).default("whole"),
      }),
      response: z.object({
        events: z.array(eventSchema),
        head: z.number().int(),
        next: z.number().int().nullable(),
      }),
    },
    options,
    async (c, { query, params }) => {
      const stream = threadStream(params.threadId ?? "");
      const head = (await log.head(stream)).version;
      const { from, to, type, run, dir } = query;
      const range = {
        ...(from !== undefined && { from: Math.max(1, from) }),
        ...(to !== undefined && { to }),
        ...(type && { types: type }),
        backwards: dir === "desc",
      };
      const events: RecordedEvent[] = [];
      let next: number | null = null;
      read: for await (const page of log.read(stream, range)) {
        for (const event of page) {
          if (run !== undefined && event.metadata.runId !== run) continue;
          if (events.length === query.limit) {
            next = event.version;
            break read;
          }
          events.push(query.data === "brief" ? briefEvent(shownEvent(event)) : shownEvent(event));
        }
      }
      c.header("ETag", `"${params.threadId}@${head}"`);
      return c.json({ events, head, next });
    },
  );

  addRoute(
    app,
    {
      method: "get",
      path: "/log/v1/threads/{threadId}/events/{version}",
      summary: "One event",
      response: eventSchema,
    },
    options,
    async (c, { params }) => {
      const number = Number(params.version);
      const stream = threadStream(params.threadId ?? "");
      const event = Number.isInteger(number) && number > 0 ? await eventAt(log, stream, number) : undefined;
      if (!event)
        throw new HTTPException(404, { message: `The thread has no event ${params.version?.slice(0, 40)}.` });
      c.header("Cache-Control", "private, max-age=31536000, immutable");
      return c.json(shownEvent(event));
    },
  );

  const owned = (owner: string | undefined) => {
    const known = new Map<string, boolean>();
    return async ({ stream }: RecordedEvent): Promise<boolean> => {
      if (owner === undefined) return true;
      const threadId = threadIdOf(stream);
      if (threadId === undefined) return false;
      const before = known.get(threadId);
      if (before !== undefined) return before;
      const isOwn = (await originOf(served, threadId))?.owner === owner;
      known.set(threadId, isOwn);
      return isOwn;
    };
  };

  addRoute(
    app,
    {
      method: "get",
      path: "/log/v1/events/live",
      summary: "Follow the events of all threads",
      query: live,
      response: eventSchema,
      type: "text/event-stream",
    },
    options,
    async (c, { query }) => {
      const after = c.req.header("last-event-id") ?? query.after;
      const isShown = owned(accessOf(c).owner);
      const bare = query.data === "none";
      const frames = liveEvents(served, { stream: undefined, after, types: query.type, isShown, bare });
      return streamAnswer(served, frames.items, { headers: {}, onClose: frames.close });
    },
  );

  addRoute(
    app,
    {
      method: "get",
      path: "/log/v1/events",
      summary: "Events of all threads in order of position",
      query: z.object({ after: z.string().optional(), type: types, limit }),
      response: z.object({ events: z.array(eventSchema), next: z.string().nullable() }),
    },
    options,
    async (c, { query }) => {
      const isShown = owned(accessOf(c).owner);
      const events: RecordedEvent[] = [];
      const range = {
        ...(query.after !== undefined && { after: query.after }),
        ...(query.type && { types: query.type }),
      };
      let next: string | null = null;
      read: for await (const page of log.readAll(range)) {
        for (const event of page) {
          if (!(await isShown(event))) continue;
          events.push(shownEvent(event));
          if (events.length < query.limit) continue;
          next = event.position;
          break read;
        }
      }
      return c.json({ events, next });
    },
  );
}

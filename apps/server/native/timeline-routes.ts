import type { OpenAPIHono } from "@hono/zod-openapi";
import { z } from "zod";
import { threadStream } from "../../../events/envelope.ts";
import { maxIndexedEvents, readTimelineIndex } from "../../../projections/timeline-index.ts";
import type { ServerEnv } from "../access.ts";
import type { Served } from "../served.ts";
import { addRoute } from "./add-route.ts";
import { shownEvent } from "./shown-event.ts";

const version = z.coerce.number().int().min(1).optional();
const mark = z.looseObject({ kind: z.string(), version: z.number().int() });

/** What a timeline of many thousand events needs, without what the events hold. */
export function addTimelineRoutes(app: OpenAPIHono<ServerEnv>, served: Served): void {
  const { log } = served.store;
  const options = { maxDepth: served.config.maxDepth };

  addRoute(
    app,
    {
      method: "get",
      path: "/log/v1/threads/{threadId}/timeline",
      summary:
        "Type, emitter, run, step and time of each event, as columns; the newest part, or that up to `to`",
      query: z.object({
        to: version,
        limit: z.coerce.number().int().min(1).max(maxIndexedEvents).default(maxIndexedEvents),
      }),
      response: z.looseObject({
        head: z.number().int(),
        from: z.number().int(),
        to: z.number().int(),
        types: z.array(z.string()),
        type: z.array(z.number().int()),
        marks: z.array(mark),
      }),
    },
    options,
    async (c, { query: { to, limit }, params: { threadId = "" } }) => {
      return c.json(await readTimelineIndex(log, threadId, { limit, ...(to !== undefined && { to }) }));
    },
  );

  addRoute(
    app,
    {
      method: "get",
      path: "/log/v1/threads/{threadId}/grep",
      summary: "Versions whose event holds a text, in any case, newest first",
      query: z.object({
        text: z.string().min(1).max(200),
        before: version,
        limit: z.coerce.number().int().min(1).max(10_000).default(1_000),
      }),
      response: z.object({ versions: z.array(z.number().int()), next: z.number().int().nullable() }),
    },
    options,
    async (c, { query: { text, before, limit }, params: { threadId = "" } }) => {
      const wanted = text.toLowerCase();
      const versions: number[] = [];
      let next: number | null = null;
      const range = { backwards: true, ...(before !== undefined && { to: before - 1 }) };
      read: for await (const page of log.read(threadStream(threadId), range)) {
        for (const event of page) {
          const { type, data, metadata } = shownEvent(event);
          if (!`${type}\n${metadata.by}\n${JSON.stringify(data)}`.toLowerCase().includes(wanted)) continue;
          versions.push(event.version);
          if (versions.length < limit) continue;
          next = event.version;
          break read;
        }
      }
      return c.json({ versions, next });
    },
  );
}

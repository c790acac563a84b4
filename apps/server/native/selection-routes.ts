import { Readable } from "node:stream";
import type { OpenAPIHono } from "@hono/zod-openapi";
import { z } from "zod";
import { csvHead, csvLine, type EventFilter, selectEvents } from "../../../projections/select-events.ts";
import type { ServerEnv } from "../access.ts";
import type { Served } from "../served.ts";
import { addRoute } from "./add-route.ts";
import { shownEvent } from "./shown-event.ts";

const names = z
  .string()
  .max(4_000)
  .transform((text) => text.split(",").filter((name) => name !== ""))
  .optional();

/** Events of a thread that fit a filter, to be kept elsewhere. */
export function addSelectionRoutes(app: OpenAPIHono<ServerEnv>, served: Served): void {
  const { log } = served.store;

  addRoute(
    app,
    {
      method: "get",
      path: "/log/v1/threads/{threadId}/selection",
      summary: "The own events that fit, oldest first, as NDJSON or CSV; they are no whole chain",
      query: z.object({
        format: z.enum(["ndjson", "csv"]).default("ndjson"),
        type: names,
        by: names,
        run: z.string().max(200).optional(),
        text: z.string().max(200).optional(),
      }),
      response: z.string(),
      type: "application/x-ndjson",
    },
    { maxDepth: served.config.maxDepth },
    async (_c, { query, params: { threadId = "" } }) => {
      const { format, type, by, run, text } = query;
      const filter: EventFilter = {
        ...(type?.length && { types: type }),
        ...(by?.length && { by }),
        ...(run !== undefined && { runId: run }),
      };
      const wanted = text?.toLowerCase();
      async function* lines(): AsyncGenerator<Uint8Array> {
        const encoder = new TextEncoder();
        if (format === "csv") yield encoder.encode(`${csvHead}\r\n`);
        for await (const event of selectEvents(log, threadId, filter)) {
          const shown = shownEvent(event);
          const searched = `${shown.type}\n${shown.metadata.by}\n${JSON.stringify(shown.data)}`;
          if (wanted !== undefined && !searched.toLowerCase().includes(wanted)) continue;
          yield encoder.encode(format === "csv" ? `${csvLine(shown)}\r\n` : `${JSON.stringify(shown)}\n`);
        }
      }
      const name = `${threadId.replace(/[^\w.-]/g, "_")}-events.${format}`;
      return new Response(Readable.toWeb(Readable.from(lines())) as ReadableStream<Uint8Array>, {
        headers: {
          "Content-Type": format === "csv" ? "text/csv; charset=utf-8" : "application/x-ndjson",
          "Content-Disposition": `attachment; filename="${name}"`,
        },
      });
    },
  );
}

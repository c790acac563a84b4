import type { OpenAPIHono } from "@hono/zod-openapi";
import { HTTPException } from "hono/http-exception";
import { z } from "zod";
import { outlineAt, outlineOf } from "../../../projections/json-outline.ts";
import { rebuildRequest, type SeenRequest, UnknownCallError } from "../../../projections/seen.ts";
import type { ServerEnv } from "../access.ts";
import { type Served, threadFor } from "../served.ts";
import { addRoute } from "./add-route.ts";
import { outlinePage, outlineSchema } from "./outline-page.ts";
import { versionAt } from "./state-routes.ts";

/** What a model was asked, rebuilt from the log. */
export function addSeenRoutes(app: OpenAPIHono<ServerEnv>, served: Served): void {
  const { store } = served;
  const options = { maxDepth: served.config.maxDepth };

  const seenAt = async (threadId: string, at: string | undefined): Promise<SeenRequest> => {
    const version = await versionAt(served, threadId, at);
    const blobs = store.blobsFor?.(threadId) ?? store.blobs;
    const reader = {
      stateAt: async (id: string, v: number) => (await threadFor(served, id)).stateAt(v),
    };
    try {
      return await rebuildRequest({ log: store.log, blobs, reader }, threadId, { at: version });
    } catch (error) {
      if (!(error instanceof UnknownCallError)) throw error;
      throw new HTTPException(404, { message: `No model was called up to version ${version}.` });
    }
  };

  addRoute(
    app,
    {
      method: "get",
      path: "/log/v1/threads/{threadId}/seen",
      summary:
        "The request of the last model call at or before a position: its messages, the newest `limit`, who brought or changed each, and whether its hash is the recorded one",
      query: z.object({
        at: z.string().max(200).optional(),
        limit: z.coerce.number().int().min(1).max(10_000).default(100),
      }),
      response: z.looseObject({
        threadId: z.string(),
        version: z.number().int(),
        hashMatches: z.boolean(),
        messages: z.array(z.looseObject({ by: z.string() })),
      }),
      problems: { 404: "No model was called up to there." },
    },
    options,
    async (c, { query, params: { threadId = "" } }) => {
      const { messages, system, tools, ...seen } = await seenAt(threadId, query.at);
      const first = Math.max(0, messages.length - query.limit);
      return c.json({
        ...seen,
        isRedacted: await served.redacted.isRedacted(threadId),
        system: system && { by: system.by, outline: outlineOf(system.message) },
        tools: tools.map((tool, index) => ({ index, name: toolName(tool), outline: outlineOf(tool) })),
        /** Place of the first message that is listed. */
        first,
        count: messages.length,
        messages: messages.slice(first).map(({ message, ...block }, index) => ({
          ...block,
          index: first + index,
          id: message.id,
          type: message.type,
          outline: outlineOf(message),
        })),
      });
    },
  );

  addRoute(
    app,
    {
      method: "get",
      path: "/log/v1/threads/{threadId}/seen/outline",
      summary: "What stands at a JSON Pointer of that request: /system, /messages/3/content, /tools/0",
      query: z.object({ at: z.string().max(200).optional(), ...outlinePage }),
      response: z.object({ threadId: z.string(), version: z.number().int(), outline: outlineSchema }),
    },
    options,
    async (c, { query, params: { threadId = "" } }) => {
      const { version, system, tools, messages } = await seenAt(threadId, query.at);
      const request = {
        system: system?.message ?? null,
        messages: messages.map(({ message }) => message),
        tools,
      };
      const found = outlineAt(request, query.pointer, query);
      if (!found)
        throw new HTTPException(404, { message: `Nothing stands at ${query.pointer.slice(0, 200)}.` });
      return c.json({ threadId, version, outline: found });
    },
  );
}

/** Tools come in the forms of several providers. */
function toolName(tool: unknown): string | null {
  const { name, function: inner } = (tool ?? {}) as { name?: unknown; function?: { name?: unknown } };
  const found = name ?? inner?.name;
  return typeof found === "string" ? found : null;
}

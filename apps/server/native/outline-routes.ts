import type { OpenAPIHono } from "@hono/zod-openapi";
import type { Context } from "hono";
import { HTTPException } from "hono/http-exception";
import { z } from "zod";
import type { Agent } from "../../../actors/agent-contract.ts";
import { threadStream } from "../../../events/envelope.ts";
import { outlineAt } from "../../../projections/json-outline.ts";
import { readLastChanges } from "../../../projections/last-changes.ts";
import { createStateReader, type StateReader } from "../../../projections/state-at.ts";
import type { ServerEnv } from "../access.ts";
import { eventAt } from "../compat/checkpoint-id.ts";
import { agentFor, listedThread, type Served, threadFor } from "../served.ts";
import { addRoute } from "./add-route.ts";
import { bareEvent } from "./brief-event.ts";
import { outlinePage, outlineSchema } from "./outline-page.ts";
import { shownEvent } from "./shown-event.ts";
import { isPublicField, publicState, versionAt } from "./state-routes.ts";

/** Values too large to be sent whole: what they are, a page of what they hold, and who wrote them. */
export function addOutlineRoutes(app: OpenAPIHono<ServerEnv>, served: Served): void {
  const options = { maxDepth: served.config.maxDepth };
  const { log, side } = served.store;
  const readers = new WeakMap<Agent, StateReader>();

  const agentOf = async (threadId: string) => {
    const named =
      served.agents.size > 1 ? (await listedThread(served, threadId))?.metadata.graph_id : undefined;
    return agentFor(served, named);
  };
  const readerOf = (agent: Agent) => {
    const { reducer, registry } = agent;
    const known = readers.get(agent) ?? createStateReader({ log, side, reducer, registry });
    readers.set(agent, known);
    return known;
  };

  addRoute(
    app,
    {
      method: "get",
      path: "/log/v1/threads/{threadId}/state/outline",
      summary:
        "What stands at a JSON Pointer of the state, with a page of what it holds; long values are cut",
      query: z.object({ at: z.string().max(200).optional(), ...outlinePage }),
      response: z.object({ threadId: z.string(), version: z.number().int(), outline: outlineSchema }),
    },
    options,
    async (c, { query, params: { threadId = "" } }) => {
      const version = await versionAt(served, threadId, query.at);
      const state = publicState(await (await threadFor(served, threadId)).stateAt(version));
      const found = outlineAt(state, query.pointer, query);
      if (!found) throw nothingAt(query.pointer);
      if (/^\d+$/.test(query.at ?? "")) keep(c);
      return c.json({ threadId, version, outline: found });
    },
  );

  addRoute(
    app,
    {
      method: "get",
      path: "/log/v1/threads/{threadId}/state/fields",
      summary: "For each field of the state the event that gave it its value",
      query: z.object({ at: z.string().max(200).optional() }),
      response: z.object({ version: z.number().int(), changes: z.array(z.unknown()) }),
    },
    options,
    async (c, { query, params: { threadId = "" } }) => {
      const version = await versionAt(served, threadId, query.at);
      const agent = await agentOf(threadId);
      const sources = { log, reducer: agent.reducer, reader: readerOf(agent) };
      const changes = await readLastChanges(sources, threadId, version);
      if (/^\d+$/.test(query.at ?? "")) keep(c);
      return c.json({ version, changes: changes.filter(({ field }) => isPublicField(field)) });
    },
  );

  addRoute(
    app,
    {
      method: "get",
      path: "/log/v1/threads/{threadId}/events/{version}/outline",
      summary: "What stands at a JSON Pointer of an event's data; long values are cut",
      query: z.object(outlinePage),
      response: z.object({ threadId: z.string(), version: z.number().int(), outline: outlineSchema }),
    },
    options,
    async (c, { query, params: { threadId = "", version = "" } }) => {
      const number = Number(version);
      const isNumber = Number.isInteger(number) && number > 0;
      const event = isNumber ? await eventAt(log, threadStream(threadId), number) : undefined;
      const found = event && outlineAt(shownEvent(event).data, query.pointer, query);
      if (!found) throw nothingAt(`${version.slice(0, 40)}${query.pointer}`);
      keep(c);
      return c.json({ threadId, version: number, outline: found });
    },
  );

  addRoute(
    app,
    {
      method: "get",
      path: "/log/v1/threads/{threadId}/events/{version}/about",
      summary: "Everything about an event but its data, and the fields whose reducers fold it",
      response: z.object({ event: z.looseObject({}), fields: z.array(z.string()) }),
    },
    options,
    async (c, { params: { threadId = "", version = "" } }) => {
      const number = Number(version);
      const isNumber = Number.isInteger(number) && number > 0;
      const event = isNumber ? await eventAt(log, threadStream(threadId), number) : undefined;
      if (!event) throw nothingAt(version);
      const { reducer } = await agentOf(threadId);
      const updated = event.type === "StateUpdated" ? (event.data as { field?: unknown }).field : undefined;
      const fields = [...reducer.definitions.values()]
        .filter(({ field, on }) => field === updated || Object.hasOwn(on, event.type))
        .map(({ field }) => field)
        .filter(isPublicField);
      keep(c);
      return c.json({ event: bareEvent(event), fields });
    },
  );
}

/** What stands at a numbered version stays. */
function keep(c: Context): void {
  c.header("Cache-Control", "private, max-age=3600");
}

function nothingAt(place: string): HTTPException {
  return new HTTPException(404, { message: `Nothing stands at ${place.slice(0, 200)}.` });
}

import { Hono } from "hono";
import { HTTPException } from "hono/http-exception";
import { v7 as uuidv7 } from "uuid";
import { z } from "zod";
import { threadMachineDefinition } from "../../../actors/lifecycle.ts";
import type { ServerEnv } from "../access.ts";
import { jsonBody } from "../json-body.ts";
import type { Served } from "../served.ts";
import { agentFor } from "../served.ts";
import type { Assistant } from "./assistant-records.ts";
import { assistantFor } from "./launch-run.ts";
import { assistantCreateSchema, assistantPatchSchema, assistantSearchSchema } from "./request-schemas.ts";
import { selected } from "./thread-wire.ts";

function unknownGraph(graphId: string): HTTPException {
  return new HTTPException(404, { message: `Graph "${graphId}" not found.` });
}

/** `/assistants` */
export function assistantRoutes(served: Served): Hono<ServerEnv> {
  const app = new Hono<ServerEnv>();
  const { assistants, agents } = served;
  const { maxDepth } = served.config;

  const search = async (query: z.output<typeof assistantSearchSchema>): Promise<Assistant[]> => {
    const found = (await assistants.all()).filter(
      (one) =>
        (!query.graph_id || one.graph_id === query.graph_id) &&
        (!query.name || one.name.toLowerCase().includes(query.name.toLowerCase())) &&
        Object.entries(query.metadata ?? {}).every(
          ([key, value]) => JSON.stringify(one.metadata[key]) === JSON.stringify(value),
        ),
    );
    const key = query.sort_by ?? "created_at";
    const direction = query.sort_order === "asc" ? 1 : -1;
    return found.sort((a, b) => (a[key] < b[key] ? -direction : a[key] > b[key] ? direction : 0));
  };

  app.post("/assistants", async (c) => {
    const body = await jsonBody(c, assistantCreateSchema, { maxDepth });
    if (!agents.has(body.graph_id)) throw unknownGraph(body.graph_id);
    const id = body.assistant_id ?? uuidv7();
    const before = await assistants.find(id);
    if (before && body.if_exists === "do_nothing") return c.json(before);
    if (before) throw new HTTPException(409, { message: "Assistant already exists" });
    const now = new Date().toISOString();
    return c.json(
      await assistants.save({
        assistant_id: id,
        graph_id: body.graph_id,
        name: body.name ?? "Untitled",
        description: body.description ?? null,
        version: 1,
        config: body.config ?? {},
        context: body.context ?? {},
        metadata: body.metadata ?? {},
        created_at: now,
        updated_at: now,
      }),
    );
  });

  app.post("/assistants/search", async (c) => {
    const query = await jsonBody(c, assistantSearchSchema, { maxDepth, optional: true });
    const found = await search(query);
    const page = found.slice(query.offset, query.offset + query.limit);
    c.header("X-Pagination-Total", String(found.length));
    if (query.offset + page.length < found.length) {
      c.header("X-Pagination-Next", String(query.offset + page.length));
    }
    return c.json(page.map((one) => selected(one, query.select)));
  });

  app.post("/assistants/count", async (c) => {
    const query = await jsonBody(c, assistantSearchSchema, { maxDepth, optional: true });
    return c.json((await search(query)).length);
  });

  app.get("/assistants/:assistantId", async (c) => {
    return c.json(await assistantFor(served, c.req.param("assistantId")));
  });

  app.patch("/assistants/:assistantId", async (c) => {
    const body = await jsonBody(c, assistantPatchSchema, { maxDepth });
    const before = await assistantFor(served, c.req.param("assistantId"));
    if (body.graph_id && !agents.has(body.graph_id)) throw unknownGraph(body.graph_id);
    const versions = await assistants.versions(before.assistant_id);
    return c.json(
      await assistants.save({
        ...before,
        version: Math.max(...versions.map(({ version }) => version)) + 1,
        graph_id: body.graph_id ?? before.graph_id,
        name: body.name ?? before.name,
        description: body.description ?? before.description,
        config: body.config ?? before.config,
        context: body.context ?? before.context,
        metadata: { ...before.metadata, ...body.metadata },
        updated_at: new Date().toISOString(),
      }),
    );
  });

  app.delete("/assistants/:assistantId", async (c) => {
    const { assistant_id, metadata } = await assistantFor(served, c.req.param("assistantId"));
    if (metadata.created_by === "system") {
      throw new HTTPException(409, { message: "The default assistant of a graph cannot be deleted." });
    }
    await assistants.remove(assistant_id);
    return c.body(null, 204);
  });

  app.post("/assistants/:assistantId/latest", async (c) => {
    const { version } = await jsonBody(c, z.object({ version: z.number().int().positive() }), { maxDepth });
    const { assistant_id } = await assistantFor(served, c.req.param("assistantId"));
    const wanted = (await assistants.versions(assistant_id)).find((one) => one.version === version);
    if (!wanted) throw new HTTPException(404, { message: "Assistant version not found" });
    return c.json(await assistants.save(wanted));
  });

  app.post("/assistants/:assistantId/versions", async (c) => {
    const schema = z.object({
      limit: z.number().int().min(1).default(10),
      offset: z.number().int().min(0).default(0),
      metadata: z.record(z.string(), z.json()).nullish(),
    });
    const { limit, offset } = await jsonBody(c, schema, { maxDepth, optional: true });
    const { assistant_id } = await assistantFor(served, c.req.param("assistantId"));
    const byVersion = new Map((await assistants.versions(assistant_id)).map((one) => [one.version, one]));
    const sorted = [...byVersion.values()].sort((a, b) => b.version - a.version);
    return c.json(sorted.slice(offset, offset + limit));
  });

  app.get("/assistants/:assistantId/graph", async (c) => {
    await assistantFor(served, c.req.param("assistantId"));
    return c.json(drawable());
  });

  app.get("/assistants/:assistantId/schemas", async (c) => {
    const { graph_id } = await assistantFor(served, c.req.param("assistantId"));
    return c.json(schemasOf(graph_id, served));
  });

  for (const path of [
    "/assistants/:assistantId/subgraphs",
    "/assistants/:assistantId/subgraphs/:namespace",
  ]) {
    app.get(path, async (c) => {
      await assistantFor(served, c.req.param("assistantId") ?? "");
      return c.json({});
    });
  }
  return app;
}

/** The lifecycle of a run as a graph that clients can draw. */
function drawable() {
  const { phases, transitions } = threadMachineDefinition;
  const nodes = [
    { id: "__start__", type: "schema", data: "__start__" },
    ...phases.map((phase) => ({
      id: phase,
      type: "runnable",
      data: { id: ["threadfold", phase], name: phase },
    })),
    { id: "__end__", type: "schema", data: "__end__" },
  ];
  const known = new Set<string>(phases);
  const edges = transitions
    .filter(({ from, to }) => known.has(from) && known.has(to))
    .map(({ from, to, when }) => ({ source: from, target: to, data: when, conditional: true }));
  return {
    nodes,
    edges: [
      { source: "__start__", target: phases[0] },
      ...edges,
      { source: phases.at(-1), target: "__end__" },
    ],
  };
}

/** JSON schemas of what goes in and out: fields by name, messages as LangChain's dictionaries. */
function schemasOf(graphId: string, served: Served) {
  const { reducer } = agentFor(served, graphId);
  const message = {
    type: "object",
    properties: { type: { type: "string" }, content: {} },
    required: ["type"],
  };
  const fields = reducer.fields.filter((field) => !field.startsWith("$") && field !== "thread_data");
  const properties = Object.fromEntries(
    fields.map((field) => [field, field === "messages" ? { type: "array", items: message } : {}]),
  );
  const state = { type: "object", title: `${graphId}State`, properties };
  return {
    graph_id: graphId,
    input_schema: { ...state, title: `${graphId}Input` },
    output_schema: { ...state, title: `${graphId}Output` },
    state_schema: state,
    config_schema: { type: "object", properties: {} },
    context_schema: { type: "object", properties: {} },
  };
}

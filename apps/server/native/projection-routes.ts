import type { OpenAPIHono } from "@hono/zod-openapi";
import { HTTPException } from "hono/http-exception";
import { z } from "zod";
import { compareRebuild } from "../../../projections/rebuild.ts";
import type { ServerEnv } from "../access.ts";
import { agentFor, type Served } from "../served.ts";
import { addRoute } from "./add-route.ts";

const projection = z.looseObject({
  name: z.string(),
  version: z.number().int(),
  state: z.string(),
  events: z.number().int(),
  lag: z.object({ events: z.number().int(), more: z.boolean(), seconds: z.number() }),
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
      const run = projections.runs.find((one) => one.projection.name === name);
      if (!run) throw new HTTPException(404, { message: `There is no projection "${name.slice(0, 80)}".` });
      if (run.projection.keep !== "disk") {
        throw new HTTPException(409, {
          message: `The rows of ${name} are in memory and built with every start.`,
        });
      }
      const { registry } = agentFor(served, undefined);
      return c.json(
        await compareRebuild({
          projection: run.projection,
          log: store.log,
          store: projections.rows,
          registry,
        }),
      );
    },
  );
}

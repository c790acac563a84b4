import type { OpenAPIHono } from "@hono/zod-openapi";
import { z } from "zod";
import { accessOf, type ServerEnv } from "../access.ts";
import type { Served } from "../served.ts";
import { scopes } from "../server-config.ts";
import { addRoute } from "./add-route.ts";

/** What the caller may do here, so that a page offers nothing that would be refused. */
export function addAccessRoutes(
  app: OpenAPIHono<ServerEnv>,
  served: Served,
  { version }: { readonly version: string },
): void {
  addRoute(
    app,
    {
      method: "get",
      path: "/log/v1/access",
      summary: "Who the caller is taken for, and what it may do",
      response: z.object({
        name: z.string(),
        scope: z.enum(scopes),
        readOnly: z.boolean(),
        version: z.string(),
        agents: z.array(z.string()),
      }),
    },
    { maxDepth: served.config.maxDepth },
    async (c) => {
      const { name, scope } = accessOf(c);
      const { readOnly } = served.config;
      return c.json({ name, scope, readOnly, version, agents: [...served.agents.keys()] });
    },
  );
}

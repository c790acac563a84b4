import { Hono } from "hono";
import type { ServerEnv } from "./access.ts";
import type { Served } from "./served.ts";

/** `/healthz` and `/metrics`. */
export function operationRoutes(served: Served): Hono<ServerEnv> {
  const app = new Hono<ServerEnv>();
  const { store, metrics, stopping } = served;
  app.get("/healthz", async (c) => {
    const reachable = await store.log.head("assistants").then(
      () => true,
      () => false,
    );
    const status = stopping.aborted ? "stopping" : reachable ? "ok" : "store unreachable";
    return c.json({ status }, status === "ok" ? 200 : 503);
  });
  app.get("/metrics", async (c) => {
    c.header("Content-Type", metrics.registry.contentType);
    return c.body(await metrics.registry.metrics());
  });
  return app;
}

import { Hono } from "hono";
import type { ServerEnv } from "../access.ts";
import type { Served } from "../served.ts";

/** `/log/v1` */
export function nativeRoutes(_served: Served, _options: { readonly version: string }): Hono<ServerEnv> {
  return new Hono<ServerEnv>();
}

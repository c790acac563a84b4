import { OpenAPIHono } from "@hono/zod-openapi";
import type { ServerEnv } from "../access.ts";
import type { OpenedFiles } from "../opened-files.ts";
import { describeOpenedRoutes } from "../opened-routes.ts";
import type { Served } from "../served.ts";
import { addAccessRoutes } from "./access-routes.ts";
import { addCompareRoutes } from "./compare-routes.ts";
import { addContentRoutes } from "./content-routes.ts";
import { addConversationRoutes } from "./conversation-routes.ts";
import { addEventRoutes } from "./event-routes.ts";
import { addOutlineRoutes } from "./outline-routes.ts";
import { addProjectionRoutes } from "./projection-routes.ts";
import { addSeenRoutes } from "./seen-routes.ts";
import { addSelectionRoutes } from "./selection-routes.ts";
import { addStateRoutes } from "./state-routes.ts";
import { addThreadRoutes } from "./thread-routes.ts";
import { addTimelineRoutes } from "./timeline-routes.ts";
import { addUploadRoutes } from "./upload-routes.ts";

/** `/log/v1`, and the document that describes it. */
export function nativeRoutes(
  served: Served,
  options: { readonly version: string; readonly openedFiles?: OpenedFiles },
): OpenAPIHono<ServerEnv> {
  const app = new OpenAPIHono<ServerEnv>();
  addAccessRoutes(app, served, options);
  addThreadRoutes(app, served);
  addEventRoutes(app, served);
  addTimelineRoutes(app, served);
  addStateRoutes(app, served);
  addOutlineRoutes(app, served);
  addCompareRoutes(app, served);
  addSeenRoutes(app, served);
  addContentRoutes(app, served);
  addConversationRoutes(app, served);
  addSelectionRoutes(app, served);
  addUploadRoutes(app, served);
  addProjectionRoutes(app, served);
  if (options.openedFiles) describeOpenedRoutes(app);
  const document = app.getOpenAPI31Document({
    openapi: "3.1.0",
    info: {
      title: "Threadfold",
      version: options.version,
      description: "Threads, their events and their states.",
    },
  });
  for (const path of ["/openapi.json", "/log/v1/openapi.json"]) app.get(path, (c) => c.json(document));
  return app;
}

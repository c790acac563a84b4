import { type Context, Hono } from "hono";
import { HTTPException } from "hono/http-exception";
import { secureHeaders } from "hono/secure-headers";
import { requireThread, requireToken, type ServerEnv } from "./access.ts";
import { assistantRoutes } from "./compat/assistant-routes.ts";
import { answerError } from "./compat/errors.ts";
import { metaRoutes } from "./compat/meta-routes.ts";
import { runRoutes } from "./compat/run-routes.ts";
import { stateRoutes } from "./compat/state-routes.ts";
import { statelessRoutes } from "./compat/stateless-routes.ts";
import { threadRoutes } from "./compat/thread-routes.ts";
import { allowOrigins, limitBody, limitRate, refuseForeign } from "./guard.ts";
import { nativeRoutes } from "./native/native-routes.ts";
import { answerProblem } from "./native/problem.ts";
import { observeRequests } from "./observe-requests.ts";
import type { OpenedFiles } from "./opened-files.ts";
import { openedPageRoutes, openedRoutes } from "./opened-routes.ts";
import { operationRoutes } from "./operation-routes.ts";
import { pageRoutes } from "./page-routes.ts";
import type { Served } from "./served.ts";

/** Paths below `/threads` that name no thread. */
const notThreads = new Set(["search", "count", "prune"]);

/** All routes of a server, with what guards them. */
export function createApp(
  served: Served,
  options: {
    readonly version: string;
    readonly pageFolder?: string;
    /** Files that are looked at beside the store; default: none can be. */
    readonly openedFiles?: OpenedFiles;
  },
): Hono<ServerEnv> {
  const { config } = served;
  const app = new Hono<ServerEnv>();
  app.use(observeRequests(served));
  app.use(secureHeaders({ crossOriginResourcePolicy: "cross-origin" }));
  app.use(refuseForeign(config));
  app.route("/", pageRoutes(options.pageFolder));
  const { openedFiles } = options;
  if (openedFiles) app.route("/", openedPageRoutes(options.pageFolder));
  app.use(allowOrigins(config.corsOrigins));
  app.use(requireToken(config));
  app.use(limitRate(config));
  // Before the usual limit: exports are larger than requests.
  if (openedFiles) app.route("/", openedRoutes(openedFiles));
  app.use(limitBody(config));
  const checkThread = requireThread(served);
  for (const path of ["/threads/:threadId", "/threads/:threadId/*"]) {
    app.use(path, async (c, next) => {
      const isCreation = c.req.method === "POST" && /\/runs(?:\/stream|\/wait)?$/.test(c.req.path);
      // Runs may make their thread, and look themselves.
      if (notThreads.has(c.req.param("threadId") ?? "") || isCreation) return next();
      return checkThread(c, next);
    });
  }
  for (const path of ["/log/v1/threads/:threadId", "/log/v1/threads/:threadId/*"]) app.use(path, checkThread);
  app.route("/", operationRoutes(served));
  app.route("/", metaRoutes(options));
  app.route("/", threadRoutes(served));
  app.route("/", stateRoutes(served));
  app.route("/", runRoutes(served));
  app.route("/", statelessRoutes(served));
  app.route("/", assistantRoutes(served));
  app.route("/", nativeRoutes(served, options));
  const answerFailure = (error: unknown, c: Context<ServerEnv>) =>
    c.req.path.startsWith("/log/") ? answerProblem(error, c) : answerError(error, c);
  app.notFound((c) => answerFailure(new HTTPException(404, { message: "Not Found" }), c));
  app.onError((error, c) => {
    const answer = answerFailure(error, c);
    if (answer.status >= 500) served.logger.error({ err: error, path: c.req.path }, "request failed");
    return answer;
  });
  return app;
}

import { type Context, Hono } from "hono";
import type { ServerEnv } from "../access.ts";

/** Parts of the reference server's API that this one does not have, with what to use in their place. */
const notOffered: readonly (readonly [path: string, what: string, instead: string])[] = [
  ["/store", "The key-value store", "Keep data in state fields of threads."],
  ["/runs/crons", "Scheduling runs", "Start runs from your own scheduler."],
  ["/threads/:threadId/runs/crons", "Scheduling runs", "Start runs from your own scheduler."],
  ["/mcp", "The MCP endpoint", "Agents use MCP servers as clients; see connectMcp."],
  ["/a2a", "The A2A endpoint", "Use the runs API."],
  ["/threads/:threadId/commands", "Streaming protocol v2", "Use runs/stream."],
  [
    "/threads/:threadId/stream/events",
    "Streaming protocol v2",
    "Use runs/stream, or /log/v1 for live events.",
  ],
];

/** `/ok`, `/info`, and 501 for what is not offered. */
export function metaRoutes(options: { readonly version: string }): Hono<ServerEnv> {
  const app = new Hono<ServerEnv>();
  app.get("/ok", (c) => c.json({ ok: true }));
  app.get("/info", (c) =>
    c.json({
      version: options.version,
      context: "js",
      server: "threadfold",
      flags: { assistants: true, crons: false, langsmith: false, store: false, mcp: false, a2a: false },
    }),
  );
  for (const [path, what, instead] of notOffered) {
    const answer = (c: Context) =>
      c.json({ error: "not_implemented", message: `${what} is not offered by this server. ${instead}` }, 501);
    app.all(path, answer);
    app.all(`${path}/*`, answer);
  }
  return app;
}

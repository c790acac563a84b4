import type { OpenAPIHono } from "@hono/zod-openapi";
import { z } from "zod";
import { threadStream } from "../../../events/envelope.ts";
import type { ServerEnv } from "../access.ts";
import { readConversation } from "../conversation.ts";
import { type Served, threadFor } from "../served.ts";
import { addRoute } from "./add-route.ts";
import { versionAt } from "./state-routes.ts";

/** What a chat shows of a thread. */
export function addConversationRoutes(app: OpenAPIHono<ServerEnv>, served: Served): void {
  const { log } = served.store;

  addRoute(
    app,
    {
      method: "get",
      path: "/log/v1/threads/{threadId}/conversation",
      summary:
        "The messages at a position as a chat shows them, the newest page first, with the checkpoints to edit or answer again from",
      query: z.object({
        at: z.string().max(200).optional(),
        before: z.coerce.number().int().min(0).optional(),
        limit: z.coerce.number().int().min(1).max(200).default(40),
      }),
      response: z.object({
        version: z.number().int(),
        head: z.number().int(),
        messages: z.array(z.looseObject({ index: z.number().int(), id: z.string(), type: z.string() })),
        total: z.number().int(),
        more: z.boolean(),
        status: z.string(),
        runId: z.string().nullable(),
        interrupts: z.array(z.looseObject({ id: z.string() })),
        error: z.string().nullable(),
        artifacts: z.array(z.string()),
      }),
    },
    { maxDepth: served.config.maxDepth },
    async (c, { query, params: { threadId = "" } }) => {
      const version = await versionAt(served, threadId, query.at);
      const thread = await threadFor(served, threadId);
      const [info, state, { version: head }] = await Promise.all([
        thread.info(),
        thread.stateAt(version),
        log.head(threadStream(threadId)),
      ]);
      const stateAt = (at: number) => thread.stateAt(at);
      const page = await readConversation({ log, threadId, version, stateAt }, query);
      const isHead = version === head;
      const artifacts = Array.isArray(state.artifacts) ? (state.artifacts as readonly string[]) : [];
      return c.json({
        version,
        head,
        ...page,
        status: info.status,
        runId: info.status === "running" ? (info.runId ?? null) : null,
        interrupts: isHead ? info.interrupts : [],
        error: isHead && info.status === "failed" ? await lastError(served, threadId) : null,
        artifacts,
      });
    },
  );
}

/** What the last run failed with. */
async function lastError({ store }: Served, threadId: string): Promise<string | null> {
  const range = { types: ["RunFailed"], backwards: true, limit: 1 } as const;
  for await (const page of store.log.read(threadStream(threadId), range)) {
    const { error } = (page[0]?.data ?? {}) as { error?: { name?: string; message?: string } };
    return error ? `${error.name ?? "Error"}: ${error.message ?? ""}` : null;
  }
  return null;
}

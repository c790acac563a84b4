import { Hono } from "hono";
import { HTTPException } from "hono/http-exception";
import { threadStream } from "../../../events/envelope.ts";
import { ThreadMetadataChanged } from "../../../events/thread.ts";
import type { ServerEnv } from "../access.ts";
import { checked, jsonBody } from "../json-body.ts";
import { refuseValues } from "../refuse-values.ts";
import { originOf, type Served, threadFor, wholeThread } from "../served.ts";
import { checkpointIdOf, eventAt, findCheckpoint } from "./checkpoint-id.ts";
import { type CheckpointRow, readCheckpoints } from "./checkpoint-rows.ts";
import { goBack, placeOf, rewindFor } from "./go-back.ts";
import { mergeMessages } from "./merge-messages.ts";
import { historySchema, stateAtSchema, stateUpdateSchema, threadPatchSchema } from "./request-schemas.ts";
import { wireState } from "./thread-wire.ts";

/** The state of a thread now. */
async function headState(served: Served, threadId: string, select?: readonly string[]) {
  const thread = await threadFor(served, threadId);
  const snapshot = await thread.snapshot();
  const [row] = await readCheckpoints(served.store.log, threadId, { limit: 1 });
  const createdAt = row?.recordedAt ?? (await originOf(served, threadId))?.createdAt ?? "";
  const { state, interrupts } = snapshot;
  return wireState(served, { threadId, row, state, open: interrupts, createdAt, ...(select && { select }) });
}

/** The state at a checkpoint. @throws {HTTPException} 404 */
async function stateAt(served: Served, threadId: string, id: string, select?: readonly string[] | null) {
  const { log } = served.store;
  const place = await placeOf(log, threadId, id);
  const rows = await readCheckpoints(log, threadId, {
    limit: 1,
    before: { threadId: place.threadId, version: place.version + 1 },
  });
  const event = await eventAt(log, threadStream(place.threadId), Math.max(1, place.version));
  const createdAt = event?.recordedAt ?? "";
  const exact = rows.find(({ version, threadId: of }) => version === place.version && of === place.threadId);
  const row: CheckpointRow = exact ?? {
    ...place,
    id: checkpointIdOf(threadStream(place.threadId), place.version, createdAt),
    recordedAt: createdAt,
    parentId: rows[0]?.id ?? null,
    parentThreadId: place.threadId,
    source: "loop",
    runId: undefined,
    interrupts: [],
    error: undefined,
  };
  const state = await (await threadFor(served, place.threadId)).stateAt(place.version);
  return wireState(served, { threadId, row, state, createdAt, ...(select && { select }) });
}

/** `/threads/:id/state` and `/threads/:id/history`. */
export function stateRoutes(served: Served): Hono<ServerEnv> {
  const app = new Hono<ServerEnv>();
  const { maxDepth } = served.config;
  const { log } = served.store;

  app.get("/threads/:threadId/state", async (c) => {
    return c.json(await headState(served, c.req.param("threadId"), c.req.queries("select")));
  });

  app.post("/threads/:threadId/state/checkpoint", async (c) => {
    const { checkpoint, select } = await jsonBody(c, stateAtSchema, { maxDepth });
    const threadId = c.req.param("threadId");
    const id = checkpoint.checkpoint_id;
    return c.json(id ? await stateAt(served, threadId, id, select) : await headState(served, threadId));
  });

  app.get("/threads/:threadId/state/:checkpointId", async (c) => {
    const { threadId, checkpointId } = c.req.param();
    return c.json(await stateAt(served, threadId, checkpointId, c.req.queries("select")));
  });

  app.post("/threads/:threadId/state", async (c) => {
    const body = await jsonBody(c, stateUpdateSchema, { maxDepth });
    const threadId = c.req.param("threadId");
    const thread = await threadFor(served, threadId);
    const given = Array.isArray(body.values) ? body.values : [body.values ?? {}];
    const values: Record<string, unknown> = Object.assign({}, ...given);
    refuseValues(values);
    const back = await rewindFor(served, thread, body);
    if ((await thread.info()).status === "running")
      throw new HTTPException(409, { message: "Thread is busy" });
    // LangGraph's clients send messages to be added; every other field takes the value's place.
    const { messages, ...fields } = values;
    const undo = back && (await goBack(served, thread, back));
    try {
      const added =
        messages === undefined
          ? {}
          : { messages: await mergeMessages(await wholeThread(served, threadId), messages) };
      await thread.update({ ...fields, ...added });
    } catch (error) {
      await undo?.();
      throw error;
    }
    const [row] = await readCheckpoints(log, threadId, { limit: 1 });
    const id = row?.id ?? null;
    return c.json({
      checkpoint: { thread_id: threadId, checkpoint_ns: "", checkpoint_id: id, checkpoint_map: null },
      configurable: { thread_id: threadId, checkpoint_ns: "", checkpoint_id: id },
    });
  });

  app.patch("/threads/:threadId/state", async (c) => {
    const { metadata } = await jsonBody(c, threadPatchSchema, { maxDepth });
    const threadId = c.req.param("threadId");
    const { owner: _ignored, ...changes } = metadata ?? {};
    if (Object.keys(changes).length > 0) {
      await (await threadFor(served, threadId)).record([ThreadMetadataChanged({ metadata: changes })]);
    }
    return c.json(await headState(served, threadId));
  });

  const history = async (threadId: string, query: ReturnType<typeof readHistoryQuery>) => {
    const { limit, select } = query;
    const filter = Object.entries(query.metadata ?? {});
    const fits = (entry: Record<string, unknown>) =>
      filter.every(
        ([key, value]) => (entry.metadata as Record<string, unknown> | undefined)?.[key] === value,
      );
    const only = query.checkpoint?.checkpoint_id;
    if (only) return [await stateAt(served, threadId, only, select)].filter(fits);
    const id = typeof query.before === "string" ? query.before : beforeId(query.before);
    const before = id === undefined ? undefined : await findCheckpoint(log, threadId, id);
    if (id !== undefined && !before) {
      throw new HTTPException(404, { message: `Checkpoint ${id} of thread ${threadId} not found` });
    }
    const read = filter.length === 0 ? limit : Number.MAX_SAFE_INTEGER;
    const rows = await readCheckpoints(log, threadId, { limit: read, ...(before && { before }) });
    const thread = await threadFor(served, threadId);
    const { interrupts } = await thread.info();
    const found: Record<string, unknown>[] = [];
    // From the oldest on each state goes on from the one before.
    for (const row of rows.toReversed()) {
      const state = await (row.threadId === threadId
        ? thread.stateAt(row.version)
        : (await threadFor(served, row.threadId)).stateAt(row.version));
      const isHead = row === rows[0] && !before;
      const createdAt = row.recordedAt;
      const open = isHead ? { open: interrupts } : {};
      found.push(
        await wireState(served, { threadId, row, state, createdAt, ...open, ...(select && { select }) }),
      );
    }
    return found.reverse().filter(fits).slice(0, limit);
  };

  app.post("/threads/:threadId/history", async (c) => {
    const query = await jsonBody(c, historySchema, { maxDepth, optional: true });
    return c.json(await history(c.req.param("threadId"), query));
  });

  app.get("/threads/:threadId/history", async (c) => {
    return c.json(await history(c.req.param("threadId"), readHistoryQuery(c.req.query())));
  });

  return app;
}

function readHistoryQuery({ limit, before }: Readonly<Record<string, string>>) {
  return checked(historySchema, {
    ...(limit !== undefined && { limit: Number(limit) }),
    ...(before !== undefined && { before }),
  });
}

function beforeId(before: ReturnType<typeof readHistoryQuery>["before"]): string | undefined {
  if (typeof before !== "object" || before === null) return undefined;
  return before.checkpoint_id ?? before.configurable?.checkpoint_id ?? undefined;
}

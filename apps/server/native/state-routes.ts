import type { OpenAPIHono } from "@hono/zod-openapi";
import type { Context } from "hono";
import { z } from "zod";
import { privateFields } from "../../../actors/middleware/thread-data.ts";
import { VersionConflict } from "../../../events/log/event-log.ts";
import { createMemorySide } from "../../../events/log/memory-side.ts";
import { diffStates } from "../../../projections/diff.ts";
import { toJsonPatch } from "../../../projections/json-patch.ts";
import { compilePath } from "../../../projections/json-path.ts";
import { createStateReader } from "../../../projections/state-at.ts";
import { resolvePosition } from "../../../projections/thread-position.ts";
import type { State } from "../../../reducers/thread-state.ts";
import type { ServerEnv } from "../access.ts";
import { refuseValues } from "../refuse-values.ts";
import { agentFor, listedThread, type Served, threadFor } from "../served.ts";
import { addRoute } from "./add-route.ts";
import { expectedVersionOf, PreconditionFailedError } from "./problem.ts";

const stateSchema = z.record(z.string(), z.unknown());
const mark = z.string().max(200);

/** False for fields that are for this machine alone. */
export function isPublicField(field: string): boolean {
  return !field.startsWith("$") && !privateFields.includes(field);
}

/** The state without what is for this machine alone. */
export function publicState(state: State): State {
  return Object.fromEntries(Object.entries(state).filter(([field]) => isPublicField(field)));
}

/** The version that a mark means: a number, `head`, `-5`, `run:<id>`, a time or the name of a head. */
export async function versionAt(served: Served, threadId: string, at: string | undefined): Promise<number> {
  return (await resolvePosition(served.store.log, `${threadId}@${at ?? "head"}`)).version;
}

/** Answers 304 when the client has it; a state at a numbered version never changes. */
function tagged(c: Context, tag: string, isFixed: boolean): Response | undefined {
  c.header("ETag", tag);
  c.header("Cache-Control", isFixed ? "private, max-age=31536000, immutable" : "private, no-cache");
  return c.req.header("if-none-match") === tag ? c.body(null, 304) : undefined;
}

/** Runs a change of a thread at the version that the request names. @throws {PreconditionFailedError} */
export async function atVersion<Result>(
  c: Context,
  work: (expected: { expectedVersion?: number }) => Promise<Result>,
): Promise<Result> {
  const expectedVersion = expectedVersionOf(c);
  try {
    return await work(expectedVersion === undefined ? {} : { expectedVersion });
  } catch (error) {
    if (!(error instanceof VersionConflict) || expectedVersion === undefined) throw error;
    throw new PreconditionFailedError(expectedVersion, error.actual);
  }
}

/** States of a thread, what changed between them and who changed it. */
export function addStateRoutes(app: OpenAPIHono<ServerEnv>, served: Served): void {
  const options = { maxDepth: served.config.maxDepth };

  addRoute(
    app,
    {
      method: "get",
      path: "/log/v1/threads/{threadId}/state",
      summary: "The state at a position: a version, head, -5, run:<id>, a time; without host paths",
      query: z.object({ at: mark.optional(), path: z.string().max(500).optional() }),
      response: z.object({ threadId: z.string(), version: z.number().int(), state: z.unknown() }),
    },
    options,
    async (c, { query, params: { threadId = "" } }) => {
      const version = await versionAt(served, threadId, query.at);
      const tag = `"${threadId}@${version}${query.path === undefined ? "" : `:${encodeURIComponent(query.path)}`}"`;
      const known = tagged(c, tag, /^\d+$/.test(query.at ?? ""));
      if (known) return known;
      const path = query.path === undefined ? undefined : compilePath(query.path);
      const state = publicState(await (await threadFor(served, threadId)).stateAt(version));
      return c.json(path ? { threadId, version, values: path.values(state) } : { threadId, version, state });
    },
  );

  addRoute(
    app,
    {
      method: "patch",
      path: "/log/v1/threads/{threadId}/state",
      summary: "Replace what fields hold; If-Match names the version that this builds on",
      body: z.object({ values: stateSchema }),
      response: z.object({ version: z.number().int() }),
      problems: {
        409: "A run is open.",
        412: "The thread is at another version.",
        422: "A value does not fit.",
      },
    },
    options,
    async (c, { body, params: { threadId = "" } }) => {
      refuseValues(body.values);
      const thread = await threadFor(served, threadId);
      return c.json(await atVersion(c, (expected) => thread.update(body.values, expected)));
    },
  );

  addRoute(
    app,
    {
      method: "get",
      path: "/log/v1/threads/{threadId}/diff",
      summary: "What changed from one position to another",
      query: z.object({ a: mark, b: mark.optional(), format: z.enum(["delta", "patch"]).default("delta") }),
      response: z.object({ a: z.number().int(), b: z.number().int(), diff: z.unknown() }),
    },
    options,
    async (c, { query, params: { threadId = "" } }) => {
      const thread = await threadFor(served, threadId);
      const a = await versionAt(served, threadId, query.a);
      const b = await versionAt(served, threadId, query.b);
      const delta = diffStates(publicState(await thread.stateAt(a)), publicState(await thread.stateAt(b)));
      return c.json({ a, b, diff: query.format === "patch" ? toJsonPatch(delta) : (delta ?? null) });
    },
  );

  addRoute(
    app,
    {
      method: "get",
      path: "/log/v1/threads/{threadId}/blame",
      summary: "The events that changed what stands at a field or JSONPath, oldest first",
      query: z.object({ path: z.string().min(1).max(500), at: mark.optional() }),
      response: z.object({ changes: z.array(z.unknown()) }),
    },
    options,
    async (c, { query, params: { threadId = "" } }) => {
      const { log } = served.store;
      const side = (await served.redacted.isRedacted(threadId)) ? createMemorySide() : served.store.side;
      const graph =
        served.agents.size > 1 ? (await listedThread(served, threadId))?.metadata.graph_id : undefined;
      const { reducer, registry } = agentFor(served, graph);
      const reader = createStateReader({ log, side, reducer, registry });
      const at = await versionAt(served, threadId, query.at);
      const fields = compilePath(query.path).fields;
      const changes: unknown[] = [];
      const isPrivate = fields?.some((field) => privateFields.includes(field)) ?? true;
      for await (const change of reader.blame(threadId, query.path, { at })) {
        if (!isPrivate) changes.push(change);
        else {
          const { before: _before, after: _after, ...rest } = change;
          changes.push(rest);
        }
      }
      return c.json({ changes });
    },
  );
}

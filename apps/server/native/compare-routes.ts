import type { OpenAPIHono } from "@hono/zod-openapi";
import type { Context } from "hono";
import { z } from "zod";
import { threadIdOf, threadStream } from "../../../events/envelope.ts";
import type { ThreadPlace } from "../../../projections/branches.ts";
import { outlineChanges } from "../../../projections/change-outline.ts";
import { compareBranches } from "../../../projections/compare-branches.ts";
import { diffStates } from "../../../projections/diff.ts";
import { outlineOf } from "../../../projections/json-outline.ts";
import { type PatchOperation, toJsonPatch } from "../../../projections/json-patch.ts";
import { resolveLineage } from "../../../projections/lineage.ts";
import { placeOnLineage, segmentsAfter } from "../../../projections/state-cache.ts";
import type { State } from "../../../reducers/thread-state.ts";
import { accessOf, checkThread, type ServerEnv } from "../access.ts";
import { type Served, threadFor } from "../served.ts";
import { addRoute } from "./add-route.ts";
import { publicState, versionAt } from "./state-routes.ts";

const mark = z.string().max(400);
const place = z.object({ threadId: z.string(), version: z.number().int() });
const work = z.looseObject({ at: place, events: z.number().int(), fields: z.array(z.string()) });

/** Two places of one thread or of two, compared: in pieces that a page can show, however large the states are. */
export function addCompareRoutes(app: OpenAPIHono<ServerEnv>, served: Served): void {
  const { log } = served.store;
  const options = { maxDepth: served.config.maxDepth };
  const stateAt = async (threadId: string, version: number): Promise<State> =>
    publicState(await (await threadFor(served, threadId)).stateAt(version));

  /** The place that `with` names; without it, the version before. */
  const otherPlace = async (
    c: Context<ServerEnv>,
    threadId: string,
    version: number,
    other: string | undefined,
  ): Promise<ThreadPlace> => {
    if (other === undefined) return { threadId, version: Math.max(0, version - 1) };
    const [, named, where = other] = /^([^@]+)@(.*)$/.exec(other) ?? [];
    if (named === undefined) return { threadId, version: await versionAt(served, threadId, where) };
    // A thread of somebody else is not there.
    await checkThread(served, accessOf(c), named);
    return { threadId: named, version: await versionAt(served, named, where) };
  };

  addRoute(
    app,
    {
      method: "get",
      path: "/log/v1/threads/{threadId}/changes",
      summary:
        "What changed up to a position, from the version before or from `with` (a position, or <thread>@<position>); long values by reference",
      query: z.object({
        at: mark.optional(),
        with: mark.optional(),
        limit: z.coerce.number().int().min(1).max(10_000).default(200),
      }),
      response: z.looseObject({ from: place, to: place, changes: z.array(z.unknown()) }),
    },
    options,
    async (c, { query, params: { threadId = "" } }) => {
      const to = { threadId, version: await versionAt(served, threadId, query.at) };
      const from = await otherPlace(c, threadId, to.version, query.with);
      const before = await stateAt(from.threadId, from.version);
      const after = await stateAt(to.threadId, to.version);
      return c.json({ from, to, ...outlineChanges(before, after, { limit: query.limit }) });
    },
  );

  addRoute(
    app,
    {
      method: "get",
      path: "/log/v1/threads/{threadId}/patch",
      summary: "The same as JSON Patch (RFC 6902); with `whole` long values are not cut",
      query: z.object({
        at: mark.optional(),
        with: mark.optional(),
        whole: z.enum(["true", "false"]).default("false"),
      }),
      response: z.object({ from: place, to: place, operations: z.array(z.unknown()) }),
    },
    options,
    async (c, { query, params: { threadId = "" } }) => {
      const to = { threadId, version: await versionAt(served, threadId, query.at) };
      const from = await otherPlace(c, threadId, to.version, query.with);
      const before = await stateAt(from.threadId, from.version);
      const after = await stateAt(to.threadId, to.version);
      const operations = toJsonPatch(diffStates(before, after));
      return c.json({ from, to, operations: query.whole === "true" ? operations : operations.map(cut) });
    },
  );

  addRoute(
    app,
    {
      method: "get",
      path: "/log/v1/threads/{threadId}/compare",
      summary: "Two branches: what they have in common, what each did since, and in which fields they differ",
      query: z.object({ at: mark.optional(), with: mark }),
      response: z.object({
        ancestor: place.nullable(),
        left: work,
        right: work,
        fields: z.array(z.string()),
      }),
    },
    options,
    async (c, { query, params: { threadId = "" } }) => {
      const left = { threadId, version: await versionAt(served, threadId, query.at) };
      const right = await otherPlace(c, threadId, left.version, query.with);
      const compared = await compareBranches(log, { stateAt }, left, right);
      const { ancestor, fields } = compared;
      /** Where the events since then stand. */
      const partsOf = async ({ threadId: id, version }: ThreadPlace) => {
        const lineage = await resolveLineage(log, threadStream(id), version);
        const common = ancestor && { stream: threadStream(ancestor.threadId), version: ancestor.version };
        const isOn = common && placeOnLineage(lineage, common) !== -1;
        return (isOn ? segmentsAfter(lineage, common) : lineage).map(({ stream, from, to }) => ({
          threadId: threadIdOf(stream) ?? stream,
          from,
          to,
        }));
      };
      return c.json({
        ancestor: ancestor ?? null,
        left: { ...compared.left, parts: await partsOf(left) },
        right: { ...compared.right, parts: await partsOf(right) },
        fields,
      });
    },
  );
}

/** An operation whose value is named when it is long. */
function cut(operation: PatchOperation) {
  if (!("value" in operation)) return operation;
  const { value, ...rest } = operation;
  const outline = outlineOf(value);
  return "value" in outline ? { ...rest, value } : { ...rest, outline };
}

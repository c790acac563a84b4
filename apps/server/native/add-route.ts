import type { OpenAPIHono } from "@hono/zod-openapi";
import type { Context } from "hono";
import { z } from "zod";
import type { ServerEnv } from "../access.ts";
import { checked, jsonBody } from "../json-body.ts";

/** A route as it is documented and checked: one set of schemas for both. */
export interface RouteDescription<Query extends z.ZodType, Body extends z.ZodType> {
  readonly method: "get" | "post" | "patch" | "delete";
  /** With parameters in braces: `/log/v1/threads/{threadId}`. */
  readonly path: string;
  readonly summary: string;
  readonly query?: Query;
  readonly body?: Body;
  /** Left out: an answer without a body. */
  readonly response?: z.ZodType;
  /** Content type of the answer; default `application/json`. */
  readonly type?: string;
  readonly status?: number;
  /** Statuses of problems, with what they mean. */
  readonly problems?: Readonly<Record<number, string>>;
}

const problemSchema = z.object({
  type: z.string(),
  title: z.string(),
  status: z.number().int(),
  detail: z.string(),
});

// The registry's own types know a zod of their own.
type RequestDescription = NonNullable<
  Parameters<OpenAPIHono<ServerEnv>["openAPIRegistry"]["registerPath"]>[0]["request"]
>;

const nothing = z.object({});

/**
 * Adds a route and its description to the OpenAPI document.
 *
 * @param options.maxDepth deepest nesting of a body
 */
export function addRoute<Query extends z.ZodType = typeof nothing, Body extends z.ZodType = typeof nothing>(
  app: OpenAPIHono<ServerEnv>,
  route: RouteDescription<Query, Body>,
  options: { readonly maxDepth: number },
  handler: (
    c: Context<ServerEnv>,
    given: {
      readonly query: z.output<Query>;
      readonly body: z.output<Body>;
      readonly params: Record<string, string>;
    },
  ) => Promise<Response>,
): void {
  const { method, path, summary, query, body, response, type = "application/json", status = 200 } = route;
  const names = [...path.matchAll(/\{(\w+)\}/g)].map((match) => match[1] ?? "");
  const params = z.object(Object.fromEntries(names.map((name) => [name, z.string()])));
  const problems = { 404: "There is no such thing, or it is not yours.", ...route.problems };
  app.openAPIRegistry.registerPath({
    method,
    path,
    summary,
    request: {
      ...(names.length > 0 && { params }),
      ...(query && { query: query as unknown as z.ZodObject }),
      ...(body && { body: { content: { "application/json": { schema: body as unknown as z.ZodObject } } } }),
    } as unknown as RequestDescription,
    responses: {
      [status]: { description: summary, ...(response && { content: { [type]: { schema: response } } }) },
      ...Object.fromEntries(
        Object.entries(problems).map(([code, description]) => [
          code,
          { description, content: { "application/problem+json": { schema: problemSchema } } },
        ]),
      ),
    },
  });
  app.on(method, path.replace(/\{(\w+)\}/g, ":$1"), async (c) => {
    const given = Object.fromEntries(
      Object.entries(c.req.queries()).map(([key, values]) => [key, values.length > 1 ? values : values[0]]),
    );
    return handler(c as Context<ServerEnv>, {
      query: checked((query ?? nothing) as Query, given),
      body: body
        ? await jsonBody(c, body, { ...options, optional: true })
        : (checked(nothing, {}) as z.output<Body>),
      params: c.req.param() as Record<string, string>,
    });
  });
}

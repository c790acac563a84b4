import { createHash, timingSafeEqual } from "node:crypto";
import type { Context, MiddlewareHandler } from "hono";
import { HTTPException } from "hono/http-exception";
import { originOf, type Served } from "./served.ts";
import { type Scope, type ServerConfig, scopes, type TokenEntry } from "./server-config.ts";

/** Who makes a request, and what it may do. */
export interface Access {
  readonly name: string;
  readonly scope: Scope;
  /** Only threads of this owner; undefined: all. */
  readonly owner: string | undefined;
}

export interface ServerEnv {
  Variables: { access: Access };
}

/** Without tokens the server is for whoever is at this machine. */
const everybody: Access = { name: "local", scope: "admin", owner: undefined };

/** Who makes the request. */
export function accessOf(c: Context<ServerEnv>): Access {
  return c.get("access") ?? everybody;
}

/**
 * The digest under which a token stands in the settings.
 *
 * @example
 * hashToken("my-token"); // 64 hex digits for `tokens[].sha256`
 */
export function hashToken(token: string): string {
  return createHash("sha256").update(token).digest("hex");
}

function tokenOf(c: Context): string | undefined {
  const bearer = /^Bearer (\S{1,500})$/i.exec(c.req.header("authorization") ?? "")?.[1];
  return bearer ?? c.req.header("x-api-key");
}

function entryOf(tokens: readonly TokenEntry[], token: string): TokenEntry | undefined {
  const given = Buffer.from(hashToken(token), "hex");
  // Every entry is compared, so that the time says nothing.
  return tokens.filter(({ sha256 }) => timingSafeEqual(Buffer.from(sha256, "hex"), given))[0];
}

/** Routes that POST only to read. */
const reading = /\/(?:search|count|history|state\/checkpoint|schemas|latest|versions|verify|opened)$/;
/** What shows or costs more than a thread of one's own: host paths, numbers of all, a rebuild. */
const admin = /^\/metrics$|^\/log\/v1\/projections\/.+|\/export$|^\/threads\/prune$|^\/log\/v1\/opened\b/;
const open = new Set(["/ok", "/healthz"]);

/** The scope that a request needs. */
function scopeFor(method: string, path: string): Scope {
  if (admin.test(path)) return "admin";
  if (onlyReads(method, path)) return "read";
  if (method === "DELETE" && /^\/log\/v1\/threads\/[^/]+\/uploads\//.test(path)) return "run";
  if (method === "DELETE" || (path.startsWith("/assistants") && method !== "GET")) return "admin";
  return "run";
}

function allows(given: Scope, needed: Scope): boolean {
  return scopes.indexOf(given) >= scopes.indexOf(needed);
}

/** True for requests that change nothing. */
function onlyReads(method: string, path: string): boolean {
  return method === "GET" || method === "HEAD" || (method === "POST" && reading.test(path));
}

/** Lets requests with a known token pass, as far as its scope goes. */
export function requireToken({
  tokens,
  readOnly,
}: Pick<ServerConfig, "tokens" | "readOnly">): MiddlewareHandler<ServerEnv> {
  return async (c, next) => {
    if (c.req.method === "OPTIONS" || open.has(c.req.path)) return next();
    if (readOnly && !onlyReads(c.req.method, c.req.path)) {
      throw new HTTPException(403, { message: "This server is open for reading only. Nothing was changed." });
    }
    if (tokens.length === 0) {
      c.set("access", everybody);
      return next();
    }
    const token = tokenOf(c);
    const entry = token === undefined ? undefined : entryOf(tokens, token);
    if (!entry) {
      c.header("WWW-Authenticate", "Bearer");
      const message = "Send a known token as `Authorization: Bearer <token>` or `X-Api-Key`.";
      throw new HTTPException(401, { message });
    }
    const { name, scope, owner } = entry;
    const needed = scopeFor(c.req.method, c.req.path);
    // A token of an owner may delete what is the owner's.
    const ownThread =
      owner !== undefined &&
      scope !== "read" &&
      c.req.method === "DELETE" &&
      /^\/threads\/./.test(c.req.path);
    if (!allows(scope, needed) && !ownThread) {
      throw new HTTPException(403, {
        message: `The token "${name}" has the scope ${scope}; this needs ${needed}.`,
      });
    }
    c.set("access", { name, scope, owner });
    return next();
  };
}

/**
 * Lets requests pass to threads that are there and that the caller may see. A thread of somebody else is answered as
 * one that is not there.
 */
export function requireThread(served: Pick<Served, "store">): MiddlewareHandler<ServerEnv> {
  return async (c, next) => {
    const threadId = c.req.param("threadId") ?? "";
    await checkThread(served, accessOf(c), threadId);
    return next();
  };
}

/** @throws {HTTPException} 404 */
export async function checkThread(
  served: Pick<Served, "store">,
  access: Access,
  threadId: string,
): Promise<void> {
  const origin = await originOf(served, threadId);
  const isSeen = origin && (access.owner === undefined || origin.owner === access.owner);
  if (!isSeen)
    throw new HTTPException(404, { message: `Thread with ID ${threadId.slice(0, 200)} not found` });
}

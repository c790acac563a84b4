import { getConnInfo } from "@hono/node-server/conninfo";
import type { Context, MiddlewareHandler } from "hono";
import { bodyLimit } from "hono/body-limit";
import { cors } from "hono/cors";
import { HTTPException } from "hono/http-exception";
import { accessOf, type ServerEnv } from "./access.ts";
import { isLoopback, type ServerConfig } from "./server-config.ts";

/** Headers that clients of other origins may read. */
const exposed = ["Content-Location", "Location", "X-Pagination-Total", "X-Pagination-Next", "ETag"];

/** Lets pages of the configured origins call the server, and no others. */
export function allowOrigins(origins: readonly string[]): MiddlewareHandler {
  return cors({
    origin: (origin) => (origins.includes(origin) || origins.includes("*") ? origin : null),
    allowMethods: ["GET", "POST", "PUT", "PATCH", "DELETE"],
    allowHeaders: [
      "Content-Type",
      "Authorization",
      "X-Api-Key",
      "X-Auth-Scheme",
      "Last-Event-ID",
      "If-Match",
    ],
    exposeHeaders: exposed,
    maxAge: 600,
  });
}

const uploadPath = /^\/log\/v1\/threads\/[^/]+\/uploads$/;
/** Bytes that a form may have around its files. */
const formBytes = 1024 * 1024;
const maxDrainedBytes = 256 * 1024 * 1024;

/** How many times the limit is read and thrown away, so that a client hears the answer instead of a broken socket. */
const drainedLimits = 8;

/** Refuses bodies beyond a number of bytes, whether their length is announced or not. */
export function limitBody({
  maxBodyBytes,
  uploads,
}: Pick<ServerConfig, "maxBodyBytes" | "uploads">): MiddlewareHandler {
  const usual = limitTo(maxBodyBytes);
  const ofUploads = limitTo(uploads.maxTotalBytes + formBytes);
  return (c, next) => (uploadPath.test(c.req.path) ? ofUploads(c, next) : usual(c, next));
}

function limitTo(maxBodyBytes: number): MiddlewareHandler {
  const refusal = () => new HTTPException(413, { message: `The body is larger than ${maxBodyBytes} bytes.` });
  const counted = bodyLimit({
    maxSize: maxBodyBytes,
    onError() {
      throw refusal();
    },
  });
  return async (c, next) => {
    const announced = c.req.header("content-length");
    // Node reads no more than what is announced. To count bytes makes a stream of the body, which is slow.
    if (c.req.header("transfer-encoding") !== undefined) return counted(c, next);
    if (!(Number(announced) > maxBodyBytes)) return next();
    let left = Math.min(maxBodyBytes * drainedLimits, maxDrainedBytes);
    const reader = c.req.raw.body?.getReader();
    for (let part = await reader?.read(); part && !part.done && left > 0; part = await reader?.read()) {
      left -= part.value.byteLength;
    }
    throw refusal();
  };
}

function hostName(host: string): string {
  return host
    .replace(/:\d+$/, "")
    .replace(/^\[|\]$/g, "")
    .toLowerCase();
}

/**
 * Refuses what a web page of another origin could make a browser send: requests with a foreign `Origin`, and, for a
 * server that only this machine reaches, requests to a name that somebody let point here.
 */
export function refuseForeign(config: ServerConfig): MiddlewareHandler {
  return async (c, next) => {
    const host = c.req.header("host") ?? "";
    if (isLoopback(config.host) && config.tokens.length === 0 && !isLoopback(hostName(host))) {
      throw new HTTPException(403, { message: "This server answers to local names only." });
    }
    const origin = c.req.header("origin");
    const isKnown =
      origin === undefined || config.corsOrigins.includes(origin) || config.corsOrigins.includes("*");
    if (!isKnown && origin !== `http://${host}` && origin !== `https://${host}`) {
      throw new HTTPException(403, { message: `Pages of ${origin.slice(0, 200)} may not call this server.` });
    }
    return next();
  };
}

function clientOf(c: Context<ServerEnv>): string {
  const { name } = accessOf(c);
  if (name !== "local") return `token ${name}`;
  try {
    return getConnInfo(c).remote.address ?? "unknown";
  } catch {
    // Without a socket: a request from within the process.
    return "local";
  }
}

/** Clients whose requests are counted at a time. */
const maxClients = 10_000;

/**
 * Limits how many requests a client makes in a minute. What was not used is saved up, at most a minute's worth.
 *
 * @param options.now milliseconds since the epoch
 */
export function limitRate(options: {
  readonly requestsPerMinute: number;
  readonly now?: () => number;
}): MiddlewareHandler<ServerEnv> {
  const { requestsPerMinute, now = Date.now } = options;
  const clients = new Map<string, { left: number; at: number }>();
  return async (c, next) => {
    const key = clientOf(c);
    const at = now();
    const known = clients.get(key) ?? { left: requestsPerMinute, at };
    const saved = ((at - known.at) * requestsPerMinute) / 60_000;
    const left = Math.min(requestsPerMinute, known.left + saved) - 1;
    clients.delete(key);
    clients.set(key, { left: Math.max(left, 0), at });
    const [oldest] = clients.keys();
    if (clients.size > maxClients && oldest !== undefined) clients.delete(oldest);
    if (left < 0) {
      c.header("Retry-After", String(Math.ceil(60 / requestsPerMinute)));
      throw new HTTPException(429, {
        message: `More than ${requestsPerMinute} requests a minute. Wait and try again.`,
      });
    }
    return next();
  };
}

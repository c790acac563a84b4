import { z } from "zod";
import { priceTableSchema } from "../../projections/price-table.ts";

/** What a bearer of a token may do; each includes those before it. */
export const scopes = ["read", "run", "admin"] as const;
export type Scope = (typeof scopes)[number];

const tokenSchema = z.strictObject({
  name: z.string().min(1),
  /** Lower-case hex SHA-256 of the token: the token itself is nowhere kept. */
  sha256: z.string().regex(/^[0-9a-f]{64}$/, "must be the SHA-256 of the token as 64 hex digits"),
  scope: z.enum(scopes).default("run"),
  /** The bearer sees and makes only threads of this owner. Without one it sees all. */
  owner: z.string().min(1).optional(),
});
export type TokenEntry = z.infer<typeof tokenSchema>;

const mebibyte = 1024 * 1024;

/** Settings of a server. */
export const serverConfigSchema = z.strictObject({
  /** Address to bind. Anything but loopback needs tokens. */
  host: z.string().min(1).default("127.0.0.1"),
  /** 0 takes a free port. */
  port: z.number().int().min(0).max(65_535).default(4270),
  tokens: z.array(tokenSchema).default([]),
  /** Nothing may be changed, whatever a token says. */
  readOnly: z.boolean().default(false),
  /** Origins of web pages that may call the server, as `https://chat.example`. Default: none. */
  corsOrigins: z.array(z.string().min(1)).default([]),
  /** What a run does when the thread is busy and the request does not say. */
  multitask: z.enum(["reject", "enqueue", "interrupt", "rollback"]).default("enqueue"),
  /** Milliseconds of silence on a stream before a heartbeat. */
  heartbeatMs: z.number().int().min(10).max(15_000).default(10_000),
  /** Milliseconds after which another server of the store takes over what stands in line here, when this one is silent. */
  leaseMs: z.number().int().min(100).default(10_000),
  /** Milliseconds that open runs may go on when the server stops. */
  graceMs: z.number().int().nonnegative().default(10_000),
  /** Bytes up to which an image travels inside its message. */
  inlineBlobBytes: z
    .number()
    .int()
    .nonnegative()
    .default(256 * 1024),
  /** Largest body of a request, in bytes. */
  maxBodyBytes: z
    .number()
    .int()
    .positive()
    .default(8 * 1024 * 1024),
  /** Of one request that uploads files, whatever `maxBodyBytes` says. */
  uploads: z
    .strictObject({
      maxFiles: z.number().int().positive().default(10),
      maxFileBytes: z
        .number()
        .int()
        .positive()
        .default(50 * mebibyte),
      maxTotalBytes: z
        .number()
        .int()
        .positive()
        .default(100 * mebibyte),
    })
    .prefault({}),
  /** What tokens cost, for the causation of a run. Default: no costs are shown. */
  prices: priceTableSchema.optional(),
  /** Deepest nesting of a JSON body. */
  maxDepth: z.number().int().positive().default(100),
  /** Requests of one client a minute. */
  requestsPerMinute: z.number().int().positive().default(6_000),
});
export type ServerConfig = z.output<typeof serverConfigSchema>;
export type ServerConfigInput = z.input<typeof serverConfigSchema>;

/** The settings of a server are not valid. */
export class ServerConfigError extends Error {
  override readonly name = "ServerConfigError";
  constructor(
    readonly path: string,
    reason: string,
  ) {
    super(`The server setting "${path}" is not valid: ${reason}. Mend it and start the server again.`);
  }
}

const loopback = new Set(["127.0.0.1", "::1", "localhost"]);

/** True for addresses that only this machine reaches. */
export function isLoopback(host: string): boolean {
  return loopback.has(host);
}

/**
 * Checks settings and fills in the defaults.
 *
 * @throws {ServerConfigError} with the path of the first setting that is wrong
 * @example
 * readServerConfig({ port: 0 }).host; // "127.0.0.1"
 */
export function readServerConfig(input: ServerConfigInput = {}): ServerConfig {
  const result = serverConfigSchema.safeParse(input);
  if (!result.success) {
    const [issue] = result.error.issues;
    throw new ServerConfigError(issue?.path.join(".") ?? "", issue?.message ?? "It is no object");
  }
  const config = result.data;
  if (!isLoopback(config.host) && config.tokens.length === 0) {
    throw new ServerConfigError(
      "host",
      `${config.host} can be reached from other machines, and there are no tokens; add "tokens" or bind 127.0.0.1`,
    );
  }
  return config;
}

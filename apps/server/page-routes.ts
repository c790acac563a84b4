import { existsSync } from "node:fs";
import { readdir, readFile } from "node:fs/promises";
import { extname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { brotliCompress, constants, gzip } from "node:zlib";
import { type Context, Hono } from "hono";
import type { ServerEnv } from "./access.ts";

const compressors = {
  br: (bytes: Buffer) =>
    promisify(brotliCompress)(bytes, { params: { [constants.BROTLI_PARAM_QUALITY]: 9 } }),
  gzip: (bytes: Buffer) => promisify(gzip)(bytes, { level: 9 }),
} as const;
type Coding = keyof typeof compressors;

const mimeTypes: Readonly<Record<string, string>> = {
  ".html": "text/html; charset=utf-8",
  ".js": "text/javascript; charset=utf-8",
  ".css": "text/css; charset=utf-8",
  ".json": "application/json",
  ".svg": "image/svg+xml",
};

/** What the page may do: run its own scripts and styles, talk to its own server, show images; nothing else. */
const contentSecurityPolicy = [
  "default-src 'none'",
  "script-src 'self'",
  "style-src 'self'",
  "connect-src 'self'",
  "img-src 'self' data: blob:",
  "font-src 'self'",
  "base-uri 'none'",
  "form-action 'none'",
  "frame-ancestors 'none'",
  "require-trusted-types-for 'script'",
  "trusted-types 'none'",
].join("; ");

/** Where the built page is: beside the bundle, or in `dist` when the sources run; undefined: it was not built. */
function builtPage(): string | undefined {
  const places = ["./web/", "../../dist/web/"].map((path) => fileURLToPath(new URL(path, import.meta.url)));
  return places.find((place) => existsSync(join(place, "index.html")));
}

interface PageFile {
  readonly bytes: Buffer;
  readonly mimeType: string;
  readonly compressed: Map<Coding, Promise<Buffer>>;
}

/** Files of the page, each read once. Only names that are in the folder are ever looked up. */
async function readPage(folder: string): Promise<ReadonlyMap<string, PageFile>> {
  const files = new Map<string, PageFile>();
  for (const entry of await readdir(folder, { recursive: true, withFileTypes: true })) {
    const mimeType = mimeTypes[extname(entry.name)];
    if (!entry.isFile() || mimeType === undefined) continue;
    const path = join(entry.parentPath, entry.name);
    const name = path.slice(folder.length).replaceAll("\\", "/").replace(/^\/+/, "");
    files.set(name, { bytes: await readFile(path), mimeType, compressed: new Map() });
  }
  return files;
}

function codingFor(c: Context): Coding | undefined {
  const accepted = c.req.header("accept-encoding") ?? "";
  if (/\bbr\b/.test(accepted)) return "br";
  return /\bgzip\b/.test(accepted) ? "gzip" : undefined;
}

async function answerFile(c: Context, file: PageFile, cacheControl: string): Promise<Response> {
  const { bytes, mimeType, compressed } = file;
  const headers: Record<string, string> = {
    "Content-Type": mimeType,
    "Content-Security-Policy": contentSecurityPolicy,
    "Cache-Control": cacheControl,
    Vary: "Accept-Encoding",
  };
  const coding = codingFor(c);
  if (coding === undefined) return c.body(new Uint8Array(bytes), 200, headers);
  const known = compressed.get(coding) ?? compressors[coding](bytes);
  compressed.set(coding, known);
  return c.body(new Uint8Array(await known), 200, { ...headers, "Content-Encoding": coding });
}

const notBuilt =
  "The page is not built here, so only the API is served. Run `npm run build` and start the server again.\n";

/**
 * The page, at `/`. It holds nothing of the threads: it needs no token, and asks for one when the API wants it.
 *
 * @param folder of the built page; default: the one that was built with this server
 */
export function pageRoutes(folder: string | undefined = builtPage()): Hono<ServerEnv> {
  const app = new Hono<ServerEnv>();
  let read: Promise<ReadonlyMap<string, PageFile>> | undefined;
  const files = () => {
    read ??= folder === undefined ? Promise.resolve(new Map()) : readPage(folder);
    return read;
  };
  app.get("/", async (c) => {
    const file = (await files()).get("index.html");
    return file ? answerFile(c, file, "no-cache") : c.text(notBuilt, 404);
  });
  app.get("/assets/:name", async (c) => {
    const file = (await files()).get(`assets/${c.req.param("name")}`);
    // The names of assets hold their hash.
    return file ? answerFile(c, file, "public, max-age=31536000, immutable") : c.text("Not Found", 404);
  });
  return app;
}

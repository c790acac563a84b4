import { constants } from "node:fs";
import { open } from "node:fs/promises";
import { Readable } from "node:stream";
import { HTTPException } from "hono/http-exception";

/** Types that browsers show without running anything in them. */
const harmless = new Set(["image/png", "image/jpeg", "image/gif", "image/webp", "text/plain"]);

const typeByEnding: Readonly<Record<string, string>> = {
  png: "image/png",
  jpg: "image/jpeg",
  jpeg: "image/jpeg",
  gif: "image/gif",
  webp: "image/webp",
  txt: "text/plain",
  md: "text/plain",
  csv: "text/plain",
  json: "text/plain",
};

/** Content that came from users and models, with headers so that it can do nothing in the page's origin. */
export function contentAnswer(
  bytes: Uint8Array | ReadableStream<Uint8Array>,
  mimeType: string | undefined,
  name: string,
  size?: number,
): Response {
  const type = mimeType !== undefined && harmless.has(mimeType) ? mimeType : "application/octet-stream";
  const shown = type === "application/octet-stream" ? "attachment" : "inline";
  return new Response(bytes instanceof Uint8Array ? Buffer.from(bytes) : bytes, {
    headers: {
      "Content-Type": type === "text/plain" ? "text/plain; charset=utf-8" : type,
      "Content-Disposition": `${shown}; filename*=UTF-8''${encodeURIComponent(name)}`,
      "Content-Security-Policy": "sandbox; default-src 'none'",
      "X-Content-Type-Options": "nosniff",
      "Cache-Control": "private, no-cache",
      ...(size !== undefined && { "Content-Length": String(size) }),
    },
  });
}

/**
 * A file as an answer, read as the client takes it, however large it is.
 *
 * @param host path without links
 * @throws {HTTPException} 404 no plain file
 */
export async function fileAnswer(host: string, name: string): Promise<Response> {
  const file = await open(host, constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK).catch(
    () => undefined,
  );
  const stats = await file?.stat();
  if (!file || !stats?.isFile()) {
    await file?.close();
    throw new HTTPException(404, { message: "There is no such file." });
  }
  // It may grow while it is read.
  const bytes = stats.size === 0 ? Readable.from([]) : file.createReadStream({ end: stats.size - 1 });
  if (stats.size === 0) await file.close();
  const ending = name.split(".").at(-1)?.toLowerCase() ?? "";
  const body = Readable.toWeb(bytes) as ReadableStream<Uint8Array>;
  return contentAnswer(body, typeByEnding[ending], name, stats.size);
}

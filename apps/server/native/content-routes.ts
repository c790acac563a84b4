import { readFile } from "node:fs/promises";
import { basename } from "node:path";
import type { OpenAPIHono } from "@hono/zod-openapi";
import { HTTPException } from "hono/http-exception";
import { z } from "zod";
import { resolveVirtualPath } from "../../../actors/sandboxes/resolve-virtual-path.ts";
import { threadFolders } from "../../../actors/sandboxes/thread-folders.ts";
import { threadStream } from "../../../events/envelope.ts";
import { blobsOf } from "../../../projections/blob-references.ts";
import type { ServerEnv } from "../access.ts";
import { type Served, threadFor } from "../served.ts";
import { addRoute } from "./add-route.ts";

/** Types that browsers show without running anything in them. */
const harmless = new Set(["image/png", "image/jpeg", "image/gif", "image/webp", "text/plain"]);

/** Content that came from users and models, so that it can do nothing in the page's origin. */
function content(bytes: Uint8Array, mimeType: string | undefined, name: string): Response {
  const type = mimeType !== undefined && harmless.has(mimeType) ? mimeType : "application/octet-stream";
  const shown = type === "application/octet-stream" ? "attachment" : "inline";
  return new Response(Buffer.from(bytes), {
    headers: {
      "Content-Type": type === "text/plain" ? "text/plain; charset=utf-8" : type,
      "Content-Disposition": `${shown}; filename*=UTF-8''${encodeURIComponent(name)}`,
      "Content-Security-Policy": "sandbox; default-src 'none'",
      "X-Content-Type-Options": "nosniff",
      "Cache-Control": "private, max-age=3600",
    },
  });
}

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

/** Largest file that is served, in bytes. */
const maxArtifactBytes = 100 * 1024 * 1024;

/** Blobs and presented files of a thread. */
export function addContentRoutes(app: OpenAPIHono<ServerEnv>, served: Served): void {
  const { store } = served;
  const options = { maxDepth: served.config.maxDepth };

  addRoute(
    app,
    {
      method: "get",
      path: "/log/v1/threads/{threadId}/blobs/{sha256}",
      summary: "Bytes that an event of the thread names",
      response: z.string(),
      type: "application/octet-stream",
    },
    options,
    async (_c, { params: { threadId = "", sha256 = "" } }) => {
      // A digest alone is no permission: the thread has to name it.
      for await (const page of store.log.read(threadStream(threadId))) {
        for (const event of page) {
          const mention = blobsOf(event).find((one) => one.sha256 === sha256);
          if (!mention) continue;
          const blobs = store.blobsFor?.(threadId) ?? store.blobs;
          return content(await blobs.get(sha256), mention.mimeType, sha256);
        }
      }
      throw new HTTPException(404, { message: "The thread names no such content." });
    },
  );

  addRoute(
    app,
    {
      method: "get",
      path: "/log/v1/threads/{threadId}/artifacts",
      summary: "A file that the agent presented, by its path",
      query: z.object({ path: z.string().min(1).max(4096) }),
      response: z.string(),
      type: "application/octet-stream",
      problems: { 413: "The file is too large to be served." },
    },
    options,
    async (_c, { query: { path }, params: { threadId = "" } }) => {
      const { artifacts = [] } = (await (await threadFor(served, threadId)).state()) as {
        artifacts?: string[];
      };
      const notThere = new HTTPException(404, { message: "The thread presents no such file." });
      if (!artifacts.includes(path)) throw notThere;
      const folders = threadFolders({ folder: store.folder, threadId });
      const { host } = await resolveVirtualPath(folders, path).catch(() => ({ host: undefined }));
      const bytes = host === undefined ? undefined : await readFile(host).catch(() => undefined);
      if (!bytes) throw notThere;
      if (bytes.byteLength > maxArtifactBytes) {
        throw new HTTPException(413, { message: `The file is larger than ${maxArtifactBytes} bytes.` });
      }
      const ending = path.split(".").at(-1)?.toLowerCase() ?? "";
      return content(bytes, typeByEnding[ending], basename(path));
    },
  );
}

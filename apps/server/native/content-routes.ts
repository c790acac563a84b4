import { basename } from "node:path";
import type { OpenAPIHono } from "@hono/zod-openapi";
import { HTTPException } from "hono/http-exception";
import { z } from "zod";
import { resolveVirtualPath } from "../../../actors/sandboxes/resolve-virtual-path.ts";
import { threadStream } from "../../../events/envelope.ts";
import { blobsOf } from "../../../projections/blob-references.ts";
import type { ServerEnv } from "../access.ts";
import { foldersOfThread } from "../folders-of-thread.ts";
import { type Served, threadFor } from "../served.ts";
import { addRoute } from "./add-route.ts";
import { contentAnswer, fileAnswer } from "./content.ts";

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
          return contentAnswer(await blobs.get(sha256), mention.mimeType, sha256);
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
    },
    options,
    async (_c, { query: { path }, params: { threadId = "" } }) => {
      const state = await (await threadFor(served, threadId)).state();
      const { artifacts = [] } = state as { readonly artifacts?: readonly string[] };
      const notThere = new HTTPException(404, { message: "The thread presents no such file." });
      if (!artifacts.includes(path)) throw notThere;
      const folders = await foldersOfThread(served, threadId);
      const { host } = await resolveVirtualPath(folders, path).catch(() => ({ host: undefined }));
      if (host === undefined) throw notThere;
      return fileAnswer(host, basename(path));
    },
  );
}

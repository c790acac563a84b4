import { rm } from "node:fs/promises";
import { join } from "node:path";
import type { OpenAPIHono } from "@hono/zod-openapi";
import { HTTPException } from "hono/http-exception";
import { z } from "zod";
import { listUploads, type UploadOnDisk, uploadNamed } from "../../../actors/sandboxes/uploaded-files.ts";
import type { ServerEnv } from "../access.ts";
import { foldersOfThread } from "../folders-of-thread.ts";
import type { Served } from "../served.ts";
import { addRoute } from "./add-route.ts";
import { fileAnswer } from "./content.ts";
import { receiveUploads } from "./receive-uploads.ts";

const fileSchema = z.object({
  filename: z.string(),
  size: z.number().int(),
  path: z.string(),
  extension: z.string(),
});
/** The user whose folders the thread's runs use (`context.user_id`); needed before the first run only. */
const user = z.object({ user_id: z.string().min(1).max(200).optional() });

const shown = ({ filename, size, path, extension }: UploadOnDisk) => ({ filename, size, path, extension });

/** Files that users give to a thread. */
export function addUploadRoutes(app: OpenAPIHono<ServerEnv>, served: Served): void {
  const { maxDepth, uploads: limits } = served.config;
  const options = { maxDepth };
  const named = async (threadId: string, name: string, userId: string | undefined) => {
    const { uploads_path: folder } = await foldersOfThread(served, threadId, userId);
    const file = await uploadNamed(folder, name);
    if (!file) throw new HTTPException(404, { message: "The thread has no such upload." });
    return { file, host: join(folder, file.filename) };
  };

  addRoute(
    app,
    {
      method: "post",
      path: "/log/v1/threads/{threadId}/uploads",
      summary:
        "Files as multipart/form-data. Name them in the next message's additional_kwargs.files and the agent reads them",
      query: user,
      response: z.object({ files: z.array(fileSchema) }),
      status: 201,
      problems: {
        413: "Too many files, or too large.",
        415: "No multipart form.",
        422: "A name that is none.",
      },
    },
    options,
    async (c, { query, params: { threadId = "" } }) => {
      const { uploads_path: folder } = await foldersOfThread(served, threadId, query.user_id);
      const files = await receiveUploads(c.req.raw, folder, limits);
      return c.json({ files: files.map(shown) }, 201);
    },
  );

  addRoute(
    app,
    {
      method: "get",
      path: "/log/v1/threads/{threadId}/uploads",
      summary: "The files that were given to a thread, newest first, and the limits for more",
      query: user,
      response: z.object({
        files: z.array(fileSchema),
        limits: z.object({
          maxFiles: z.number(),
          maxFileBytes: z.number(),
          maxTotalBytes: z.number(),
        }),
      }),
    },
    options,
    async (c, { query, params: { threadId = "" } }) => {
      const { uploads_path: folder } = await foldersOfThread(served, threadId, query.user_id);
      return c.json({ files: (await listUploads(folder)).map(shown), limits });
    },
  );

  addRoute(
    app,
    {
      method: "get",
      path: "/log/v1/threads/{threadId}/uploads/{name}",
      summary: "An uploaded file",
      query: user,
      response: z.string(),
      type: "application/octet-stream",
    },
    options,
    async (_c, { query, params: { threadId = "", name = "" } }) => {
      const { file, host } = await named(threadId, name, query.user_id);
      return fileAnswer(host, file.filename);
    },
  );

  addRoute(
    app,
    {
      method: "delete",
      path: "/log/v1/threads/{threadId}/uploads/{name}",
      summary: "Take an uploaded file away; what the thread's events say of it stays",
      query: user,
      status: 204,
    },
    options,
    async (c, { query, params: { threadId = "", name = "" } }) => {
      const { host } = await named(threadId, name, query.user_id);
      await rm(host);
      return c.body(null, 204);
    },
  );
}

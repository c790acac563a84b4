import { createInterface } from "node:readline";
import { Readable } from "node:stream";
import type { ReadableStream as NodeReadableStream } from "node:stream/web";
import type { OpenAPIHono } from "@hono/zod-openapi";
import { Hono } from "hono";
import { bodyLimit } from "hono/body-limit";
import { HTTPException } from "hono/http-exception";
import type { ServerEnv } from "./access.ts";
import type { OpenedFiles } from "./opened-files.ts";
import { pageRoutes } from "./page-routes.ts";

/** Largest export that is opened, in bytes, unpacked. */
const maxExportBytes = 256 * 1024 * 1024;

/** The page of an opened file, below the file's path. It holds nothing of it and needs no token. */
export function openedPageRoutes(pageFolder: string | undefined): Hono<ServerEnv> {
  const app = new Hono<ServerEnv>();
  app.get("/opened/:id", (c) => c.redirect(`${c.req.path}/`));
  app.route("/opened/:id", pageRoutes(pageFolder));
  return app;
}

/**
 * `POST /log/v1/opened` takes an export as it is in its file, and says under which path it can be looked at:
 * `/opened/<id>/` has the page and the whole API, read only.
 */
export function openedRoutes(files: OpenedFiles): Hono<ServerEnv> {
  const app = new Hono<ServerEnv>();
  const limit = bodyLimit({
    maxSize: maxExportBytes,
    onError() {
      throw new HTTPException(413, { message: `The file is larger than ${maxExportBytes} bytes.` });
    },
  });

  app.post("/log/v1/opened", limit, async (c) => {
    const type = c.req.header("content-type") ?? "";
    // Web pages of other origins can send other types without being asked first.
    if (!/^application\/x-ndjson\b/i.test(type) || !c.req.raw.body) {
      throw new HTTPException(415, { message: "Send the file as application/x-ndjson." });
    }
    const { id, threadIds } = await files.open(linesOf(c.req.raw.body)).catch((error: unknown) => {
      if (error instanceof Error && refusals.has(error.name)) {
        throw new HTTPException(422, { message: error.message });
      }
      throw error;
    });
    return c.json({ id, path: `/opened/${id}/`, threads: threadIds }, 201);
  });

  app.delete("/log/v1/opened/:id", async (c) => {
    await files.close(c.req.param("id"));
    return c.body(null, 204);
  });

  app.all("/opened/:id/*", async (c) => {
    const id = c.req.param("id");
    const file = files.get(id);
    if (!file) {
      throw new HTTPException(404, { message: "This file is not open any more. Open it again." });
    }
    const url = new URL(c.req.url);
    url.pathname = url.pathname.slice(`/opened/${id}`.length);
    return file.app.fetch(new Request(url, c.req.raw), c.env);
  });
  return app;
}

/** The lines of a body. Nothing is read before the first is asked for: lines that nobody waits for are lost. */
async function* linesOf(body: ReadableStream<Uint8Array>): AsyncGenerator<string> {
  const input = Readable.fromWeb(body as unknown as NodeReadableStream<Uint8Array>);
  yield* createInterface({ input, crlfDelay: Number.POSITIVE_INFINITY });
}

/** The two routes in the document of the API. */
export function describeOpenedRoutes({ openAPIRegistry }: OpenAPIHono<ServerEnv>): void {
  openAPIRegistry.registerPath({
    method: "post",
    path: "/log/v1/opened",
    summary:
      "An export to look at, as it is in its file (application/x-ndjson): the page and the whole API are below the path that is answered, read only",
    responses: {
      201: {
        description: "Where it can be looked at, and its threads",
        content: {
          "application/json": {
            schema: {
              type: "object",
              properties: {
                id: { type: "string" },
                path: { type: "string" },
                threads: { type: "array", items: { type: "string" } },
              },
            },
          },
        },
      },
      413: { description: "The file is too large." },
      422: { description: "It is no export, or a damaged one." },
    },
  });
  openAPIRegistry.registerPath({
    method: "delete",
    path: "/log/v1/opened/{id}",
    summary: "Forget an opened file",
    responses: { 204: { description: "It is not open any more." } },
  });
}

/** Errors of files that are no exports, or damaged ones, by name. */
const refusals = new Set([
  "ExportFormatError",
  "BrokenExportError",
  "MissingParentError",
  "NewerSchemaError",
  "FoldError",
  "NotAThreadError",
  "BrokenLineageError",
]);

import { createWriteStream } from "node:fs";
import { lstat, mkdir, rename, rm } from "node:fs/promises";
import { join } from "node:path";
import { Readable } from "node:stream";
import { pipeline } from "node:stream/promises";
import type { ReadableStream as NodeReadableStream } from "node:stream/web";
import { Busboy, type BusboyInstance } from "@fastify/busboy";
import { HTTPException } from "hono/http-exception";
import { v7 as uuidv7 } from "uuid";
import { isUploadName, type UploadOnDisk, uploadNamed } from "../../../actors/sandboxes/uploaded-files.ts";
import type { ServerConfig } from "../server-config.ts";

/** Parts of a form that are no files. */
const maxFields = 20;
const maxHeaderPairs = 20;

/** @throws {HTTPException} 409 a link stands where the folder should be */
async function openFolder(folder: string): Promise<void> {
  await mkdir(folder, { recursive: true });
  if (!(await lstat(folder)).isDirectory()) {
    throw new HTTPException(409, { message: "The thread's folder for uploads is not a folder. Remove it." });
  }
}

/**
 * Writes the files of a multipart form into a folder as they stream in: all of them, or none. A file of the same name
 * is replaced.
 *
 * @throws {HTTPException} 400 no form, 413 beyond the limits, 415 another content type, 422 a name that is none
 */
export async function receiveUploads(
  request: Request,
  folder: string,
  limits: ServerConfig["uploads"],
): Promise<readonly UploadOnDisk[]> {
  const { maxFiles, maxFileBytes, maxTotalBytes } = limits;
  const type = request.headers.get("content-type") ?? "";
  if (!/^multipart\/form-data\s*;/i.test(type) || !request.body) {
    throw new HTTPException(415, { message: "Send the files as multipart/form-data." });
  }
  await openFolder(folder);
  const parts = new Map<string, string>();
  const writes: Promise<void>[] = [];
  let refusal: HTTPException | undefined;
  let total = 0;
  const refuse = (status: 413 | 422, message: string) => {
    refusal ??= new HTTPException(status, { message });
  };
  const form = openForm(type, limits);
  form.on("filesLimit", () => refuse(413, `More than ${maxFiles} files were sent.`));
  form.on("file", (_field, stream, filename) => {
    const shown = String(filename).slice(0, 80);
    if (!isUploadName(filename)) refuse(422, `"${shown}" is no name of a file.`);
    else if (parts.has(filename)) refuse(422, `"${shown}" was sent twice.`);
    if (refusal) {
      stream.resume();
      return;
    }
    const part = join(folder, `.upload-${uuidv7()}.part`);
    parts.set(filename, part);
    stream.on("limit", () => refuse(413, `"${shown}" is larger than ${maxFileBytes} bytes.`));
    stream.on("data", (bytes: Buffer) => {
      total += bytes.byteLength;
      if (total > maxTotalBytes) refuse(413, `The files are larger than ${maxTotalBytes} bytes together.`);
    });
    const writing = pipeline(stream, createWriteStream(part, { flags: "wx" }));
    writing.catch(() => undefined);
    writes.push(writing);
  });
  try {
    const body = request.body as unknown as NodeReadableStream<Uint8Array>;
    await pipeline(Readable.fromWeb(body), form).catch((error: unknown) => {
      if (error instanceof Error && error.name === "BodyLimitError") throw error;
      throw new HTTPException(400, { message: "The form is broken. Nothing was kept." });
    });
    await Promise.all(writes);
    if (refusal) throw refusal;
    if (parts.size === 0) throw new HTTPException(422, { message: "The form holds no files." });
    const uploaded: UploadOnDisk[] = [];
    for (const [filename, part] of parts) {
      await rename(part, join(folder, filename)).catch(() => {
        throw new HTTPException(409, { message: `A folder stands where "${filename}" should be.` });
      });
      const file = await uploadNamed(folder, filename);
      if (file) uploaded.push(file);
    }
    return uploaded;
  } finally {
    await Promise.allSettled(writes);
    await Promise.all([...parts.values()].map((part) => rm(part, { force: true })));
  }
}

function openForm(type: string, limits: ServerConfig["uploads"]): BusboyInstance {
  try {
    return new Busboy({
      headers: { "content-type": type },
      preservePath: true,
      limits: {
        files: limits.maxFiles,
        fileSize: limits.maxFileBytes,
        fields: maxFields,
        headerPairs: maxHeaderPairs,
      },
    });
  } catch {
    throw new HTTPException(400, { message: "The form has no boundary." });
  }
}

import { lstat, readdir } from "node:fs/promises";
import { extname, join } from "node:path";
import { virtualUploads } from "./virtual-path.ts";

const stagingName = /^\.upload-.*\.part$/;
/** Endings of documents that are converted to Markdown beside the original. */
const convertible = new Set([".pdf", ".ppt", ".pptx", ".xls", ".xlsx", ".doc", ".docx"]);
const forbidden = /[\p{Cc}\p{Zl}\p{Zp}/\\]/u;
const maxNameBytes = 255;

/** A file in the uploads folder of a thread. */
export interface UploadOnDisk {
  readonly filename: string;
  /** Bytes. */
  readonly size: number;
  /** Virtual path. */
  readonly path: string;
  /** With the dot; empty for none. */
  readonly extension: string;
  /** Milliseconds since 1970. */
  readonly modifiedMs: number;
}

/** True for the name of an upload: one file, no folders, no control characters, not half uploaded. */
export function isUploadName(name: unknown): name is string {
  if (typeof name !== "string" || name === "" || name === "." || name === "..") return false;
  return !forbidden.test(name) && !stagingName.test(name) && Buffer.byteLength(name) <= maxNameBytes;
}

/** The file of this name, if it is a plain file in the folder: links, folders and devices are none. */
export async function uploadNamed(uploadsPath: string, filename: string): Promise<UploadOnDisk | undefined> {
  if (!isUploadName(filename)) return undefined;
  const stats = await lstat(join(uploadsPath, filename)).catch(() => undefined);
  if (!stats?.isFile()) return undefined;
  return {
    filename,
    size: stats.size,
    path: `${virtualUploads}/${filename}`,
    extension: extname(filename),
    modifiedMs: stats.mtimeMs,
  };
}

/** The Markdown twin of a converted document, by name; undefined for other files. */
export function markdownTwin(filename: string): string | undefined {
  const extension = extname(filename);
  return convertible.has(extension.toLowerCase()) ? `${filename.slice(0, -extension.length)}.md` : undefined;
}

/**
 * All uploads of a thread, newest first; Markdown twins of converted documents are left out.
 *
 * @example
 * const [newest] = await listUploads(folders.uploads_path);
 */
export async function listUploads(uploadsPath: string): Promise<readonly UploadOnDisk[]> {
  const names = await readdir(uploadsPath).catch((error: NodeJS.ErrnoException) => {
    if (error.code === "ENOENT") return [];
    throw error;
  });
  const twins = new Set(names.map(markdownTwin));
  const found = await Promise.all(
    names.filter((name) => !twins.has(name)).map((name) => uploadNamed(uploadsPath, name)),
  );
  return found
    .filter((file) => file !== undefined)
    .sort((a, b) => b.modifiedMs - a.modifiedMs || (a.filename < b.filename ? -1 : 1));
}

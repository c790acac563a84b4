import { constants } from "node:fs";
import { open } from "node:fs/promises";
import { join } from "node:path";
import type { UploadedFile } from "../../events/uploads.ts";
import { markdownTwin, uploadNamed } from "../sandboxes/uploaded-files.ts";

/** Files that are described; the rest are counted. */
const maxDescribed = 10;
const maxHeadings = 50;
const maxFirstLines = 10;
const maxLineLength = 200;
/** Bytes of a file that are looked at for its outline. */
const maxOutlineBytes = 256 * 1024;

/** User-derived text that cannot open or close a tag, or begin a new line. */
function harmless(text: string): string {
  return text
    .replace(/[\p{Cc}\p{Zl}\p{Zp}]+/gu, " ")
    .replaceAll("&", "&amp;")
    .replaceAll("<", "&lt;")
    .replaceAll(">", "&gt;");
}

function sizeText(bytes: number): string {
  const kilobytes = bytes / 1024;
  return kilobytes < 1024 ? `${kilobytes.toFixed(1)} KB` : `${(kilobytes / 1024).toFixed(1)} MB`;
}

/**
 * The block that tells the model about the files of the current message: at most ten described, the rest counted.
 *
 * @example
 * await uploadsBlock(files, folders.uploads_path); // "<current_uploads>\n…\n</current_uploads>"
 */
export async function uploadsBlock(files: readonly UploadedFile[], uploadsPath: string): Promise<string> {
  const described = await Promise.all(
    files.slice(0, maxDescribed).map((file) => describe(file, uploadsPath)),
  );
  const rest = files.slice(maxDescribed);
  return [
    "<current_uploads>",
    "The user uploaded these files with this message:",
    ...described.flat(),
    ...(rest.length === 0
      ? []
      : [`${rest.length} more files are not described here (${tally(rest)}). Use list_uploaded_files.`]),
    "</current_uploads>",
  ].join("\n");
}

function tally(files: readonly UploadedFile[]): string {
  const counts = new Map<string, number>();
  for (const { extension } of files) {
    const kind = extension ? harmless(extension) : "no extension";
    counts.set(kind, (counts.get(kind) ?? 0) + 1);
  }
  return [...counts].map(([kind, count]) => `${count} ${kind}`).join(", ");
}

async function describe(file: UploadedFile, uploadsPath: string): Promise<readonly string[]> {
  return [
    `- ${harmless(file.filename)} (${sizeText(file.size)})`,
    `  Path: ${harmless(file.path)}`,
    ...(await outline(file.filename, uploadsPath)),
  ];
}

/** Headings of a Markdown file or of a document's Markdown twin, or its first lines. */
async function outline(filename: string, uploadsPath: string): Promise<readonly string[]> {
  const markdown = filename.toLowerCase().endsWith(".md") ? filename : markdownTwin(filename);
  const found = markdown === undefined ? undefined : await uploadNamed(uploadsPath, markdown);
  if (!found) return [];
  const lines = (await beginning(join(uploadsPath, found.filename))).split("\n");
  const hint = `  Search in ${harmless(found.path)} for more.`;
  const shown = (line: string) => harmless(line.trim().slice(0, maxLineLength));
  const headings = lines.flatMap((line, index) =>
    /^#{1,6}\s/.test(line) ? [`    line ${index + 1}: ${shown(line)}`] : [],
  );
  if (headings.length > 0) return ["  Outline:", ...headings.slice(0, maxHeadings), hint];
  const first = lines.filter((line) => line.trim() !== "").slice(0, maxFirstLines);
  return first.length === 0 ? [] : ["  Begins with:", ...first.map((line) => `    ${shown(line)}`), hint];
}

async function beginning(path: string): Promise<string> {
  const file = await open(path, constants.O_RDONLY | constants.O_NOFOLLOW);
  try {
    const { buffer, bytesRead } = await file.read(Buffer.alloc(maxOutlineBytes), 0, maxOutlineBytes, 0);
    return new TextDecoder().decode(buffer.subarray(0, bytesRead), { stream: true });
  } finally {
    await file.close();
  }
}

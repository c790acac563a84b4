import { createReadStream, createWriteStream } from "node:fs";
import { createInterface } from "node:readline";
import { Readable } from "node:stream";
import { pipeline } from "node:stream/promises";
import { createGunzip, createGzip } from "node:zlib";

/** Lines of a text file. Errors of the file and of its compression come from the iteration. */
export async function* readLines(
  path: string,
  { gzipped }: { readonly gzipped: boolean },
): AsyncGenerator<string> {
  const file = createReadStream(path);
  const text = gzipped ? file.pipe(createGunzip()) : file;
  // An error of the file has to end the lines, too.
  file.once("error", (error) => text.destroy(error));
  yield* createInterface({ input: text, crlfDelay: Number.POSITIVE_INFINITY });
}

async function* withLineEnds(lines: AsyncIterable<string>): AsyncGenerator<string> {
  for await (const line of lines) yield `${line}\n`;
}

/** Writes lines into a new gzip file that only its owner may read. */
export async function writeGzippedLines(lines: AsyncIterable<string>, path: string): Promise<void> {
  const file = createWriteStream(path, { mode: 0o600 });
  await pipeline(Readable.from(withLineEnds(lines)), createGzip(), file);
}

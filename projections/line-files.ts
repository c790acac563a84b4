import { createReadStream, createWriteStream } from "node:fs";
import { createInterface } from "node:readline";
import { Readable } from "node:stream";
import { pipeline } from "node:stream/promises";
import { createGunzip, createGzip } from "node:zlib";

/** A file that should be compressed with gzip is cut short, or is no such file. */
export class DamagedArchiveError extends Error {
  override readonly name = "DamagedArchiveError";
  constructor(
    readonly path: string,
    cause: Error,
  ) {
    super(
      `${path} cannot be unpacked (${cause.message}): it is cut short, or no gzip file. Nothing was read from it; take another copy.`,
      { cause },
    );
  }
}

/**
 * Lines of a text file. Errors of the file come from the iteration.
 *
 * @throws {DamagedArchiveError}
 */
export async function* readLines(
  path: string,
  { gzipped }: { readonly gzipped: boolean },
): AsyncGenerator<string> {
  const file = createReadStream(path);
  const text = gzipped ? file.pipe(createGunzip()) : file;
  // An error of the file has to end the lines, too.
  file.once("error", (error) => text.destroy(error));
  try {
    yield* createInterface({ input: text, crlfDelay: Number.POSITIVE_INFINITY });
  } catch (error) {
    const isZlib = error instanceof Error && String((error as NodeJS.ErrnoException).code).startsWith("Z_");
    throw isZlib ? new DamagedArchiveError(path, error) : error;
  }
}

async function* withLineEnds(lines: AsyncIterable<string>): AsyncGenerator<string> {
  for await (const line of lines) yield `${line}\n`;
}

/** Writes lines into a new gzip file that only its owner may read. */
export async function writeGzippedLines(lines: AsyncIterable<string>, path: string): Promise<void> {
  const file = createWriteStream(path, { mode: 0o600 });
  await pipeline(Readable.from(withLineEnds(lines)), createGzip(), file);
}

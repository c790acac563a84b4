import { NotJsonError } from "../events/canonical-json.ts";
import type { RecordedEvent } from "../events/envelope.ts";
import { type BrokenLink, findBrokenLink, type SealedEvent, sha256 } from "../events/hash-chain.ts";
import { type ExportedBlob, ExportFormatError, type ExportHeader, parseExportLine } from "./export-lines.ts";

/** The events of an export are not those that were recorded: one was changed, left out or put elsewhere. */
export class BrokenExportError extends Error {
  override readonly name = "BrokenExportError";
  constructor(
    readonly line: number,
    readonly link: BrokenLink,
  ) {
    const what = {
      hash: "its content does not have the hash that it was recorded with",
      "previous-hash": "it does not follow the event before it",
      "version-gap": `version ${link.expected} was expected here`,
    }[link.reason];
    super(
      `The chain of the export breaks at ${link.stream}@${link.version} (line ${line}): ${what}. Nothing was imported; export the thread again.`,
    );
  }
}

/** Everything that an export holds, with its chains checked. */
export interface ReadExport {
  readonly header: ExportHeader;
  /** Events by stream, in the order of the file; each list is a whole, unbroken chain. */
  readonly streams: ReadonlyMap<string, readonly SealedEvent[]>;
  readonly blobs: readonly ExportedBlob[];
}

interface ReadLine {
  readonly line: number;
  readonly event: SealedEvent;
}

/**
 * Reads an export whole and checks every chain and every blob.
 *
 * @param lines lines of the export without their ends; empty lines are passed over
 * @throws {ExportFormatError} @throws {BrokenExportError}
 */
export async function readExport(lines: AsyncIterable<string> | Iterable<string>): Promise<ReadExport> {
  let header: ExportHeader | undefined;
  const read = new Map<string, ReadLine[]>();
  const blobs: ExportedBlob[] = [];
  let number = 0;
  for await (const text of lines) {
    number += 1;
    if (text.trim() === "" && number > 1) continue;
    const parsed = parseExportLine(text, number);
    if (parsed.kind === "header") header = parsed.header;
    else if (parsed.kind === "blob") blobs.push(checkedBlob(parsed.blob, number));
    else {
      const { event } = parsed;
      const known = read.get(event.stream);
      if (known) known.push({ line: number, event });
      else read.set(event.stream, [{ line: number, event }]);
    }
  }
  if (!header) throw new ExportFormatError(1, "the file is empty");
  const streams = new Map([...read].map(([stream, events]) => [stream, checkedChain(events)]));
  for (const [stream, version] of Object.entries(header.streams)) {
    const found = streams.get(stream)?.length ?? 0;
    if (found !== version) {
      throw new ExportFormatError(
        number,
        `the file ends with ${found} of the ${version} events of ${stream}; it was cut short`,
      );
    }
  }
  return { header, streams, blobs };
}

function checkedBlob(blob: ExportedBlob, line: number): ExportedBlob {
  if (sha256(blob.data) !== blob.sha256) {
    throw new ExportFormatError(line, `the bytes of blob ${blob.sha256} have another hash`);
  }
  return blob;
}

function checkedChain(lines: readonly ReadLine[]): readonly SealedEvent[] {
  const events = lines.map(({ event }) => event);
  let checking = 0;
  const counted = function* (): Generator<RecordedEvent> {
    for (const event of events) {
      yield { ...event, position: "" };
      checking += 1;
    }
  };
  try {
    const broken = findBrokenLink(counted());
    if (broken) throw new BrokenExportError(lines[checking]?.line ?? 0, broken);
  } catch (cause) {
    if (!(cause instanceof NotJsonError)) throw cause;
    throw new ExportFormatError(lines[checking]?.line ?? 0, cause.message);
  }
  return events;
}

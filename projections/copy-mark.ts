import type { z } from "zod";
import type { RecordedEvent } from "../events/envelope.ts";
import { sha256 } from "../events/hash-chain.ts";
import type { EventLog } from "../events/log/event-log.ts";
import type { SideStore } from "../events/log/side-store.ts";
import { lazySchema } from "../events/zod.ts";

const markSchema = lazySchema((z) =>
  z.object({
    position: z.string(),
    stream: z.string(),
    version: z.number(),
    hash: z.string(),
    events: z.number(),
  }),
);

/** How far a source was copied: its last copied event, and how many there were before and with it. */
export type CopyMark = z.infer<ReturnType<typeof markSchema>>;

const kind = "copy";

/** The mark of the last copy from this source, when it is still the same log: the event is there with its hash. */
export async function readMark(
  source: EventLog,
  side: SideStore,
  url: string,
): Promise<CopyMark | undefined> {
  const parsed = markSchema().safeParse((await side.get(kind, sha256(url)))?.value);
  if (!parsed.success) return undefined;
  const { stream, version, hash, position } = parsed.data;
  for await (const page of source.read(stream, { from: version, to: version })) {
    if (page[0]?.metadata.hash === hash && page[0].position === position) return parsed.data;
  }
  return undefined;
}

export async function writeMark(
  side: SideStore,
  url: string,
  last: RecordedEvent,
  events: number,
): Promise<void> {
  const { position, stream, version, metadata } = last;
  await side.put(kind, sha256(url), { position, stream, version, hash: metadata.hash, events });
}

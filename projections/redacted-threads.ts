import { threadStream } from "../events/envelope.ts";
import type { EventLog } from "../events/log/event-log.ts";

/** What is known of a stream, so that only later events are searched. */
export interface SearchedStream {
  /** Version up to which it was searched. */
  readonly through: number;
  readonly redacted: boolean;
  /** Stream that it was forked from. */
  readonly parent: string | undefined;
}

async function search(
  log: EventLog,
  stream: string,
  before: SearchedStream | undefined,
): Promise<SearchedStream> {
  const { version } = await log.head(stream);
  if (before && (before.redacted || before.through >= version)) return before;
  let redacted = false;
  const range = { from: (before?.through ?? 0) + 1, to: version, types: ["ContentRedacted"] };
  for await (const page of log.read(stream, range)) redacted ||= page.length > 0;
  let parent = before?.parent;
  if (!before) {
    for await (const page of log.read(stream, { from: 1, to: 1, types: ["ThreadForked"] })) {
      const [fork] = page;
      if (fork) parent = threadStream((fork.data as unknown as { parentThreadId: string }).parentThreadId);
    }
  }
  return { through: version, redacted, parent };
}

/**
 * True when something was redacted from a thread, or from one that it was forked from: snapshots and states in memory
 * may hold it still.
 *
 * @param known what earlier calls found, by stream
 */
export async function isThreadRedacted(
  log: EventLog,
  threadId: string,
  known: Map<string, SearchedStream> = new Map(),
): Promise<boolean> {
  const seen = new Set<string>();
  for (let stream: string | undefined = threadStream(threadId); stream && !seen.has(stream); ) {
    seen.add(stream);
    const found: SearchedStream = await search(log, stream, known.get(stream));
    known.delete(stream);
    known.set(stream, found);
    if (found.redacted) return true;
    stream = found.parent;
  }
  return false;
}

import { type RecordedEvent, threadStream } from "../events/envelope.ts";
import type { Store } from "../events/store.ts";
import { blobsOf } from "./blob-references.ts";

/** Digests of all blobs that an event needs. */
export function digestsOf(event: RecordedEvent): string[] {
  const mentioned = blobsOf(event).map(({ sha256 }) => sha256);
  // The output lies in the thread's folder, and a copy of it in the blob store.
  if (event.type === "ToolOutputExternalized")
    mentioned.push(String((event.data as { sha256?: unknown }).sha256));
  return mentioned;
}

/**
 * Digests of the blobs that one thread refers to and no other does. The whole log is read to find out, unless the
 * thread refers to none; a blob that two threads share stays.
 */
export async function blobsOnlyOf(store: Pick<Store, "log">, threadId: string): Promise<readonly string[]> {
  const stream = threadStream(threadId);
  const found = new Set<string>();
  for await (const page of store.log.read(stream)) {
    for (const event of page) for (const sha256 of digestsOf(event)) found.add(sha256);
  }
  if (found.size === 0) return [];
  for await (const page of store.log.readAll()) {
    for (const event of page) {
      if (event.stream === stream) continue;
      for (const sha256 of digestsOf(event)) found.delete(sha256);
    }
    if (found.size === 0) break;
  }
  return [...found];
}

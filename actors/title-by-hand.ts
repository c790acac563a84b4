import { threadStream } from "../events/envelope.ts";
import type { EventLog } from "../events/log/event-log.ts";

/**
 * The last title that was given from outside since a version: who goes back behind a rename gives it again, for a
 * user's title wins. Undefined: none was given; null: it was taken away.
 *
 * @param from the first version that counts
 * @example
 * const title = await titleByHand(log, "t1", 12);
 */
export async function titleByHand(
  log: EventLog,
  threadId: string,
  from: number,
): Promise<string | null | undefined> {
  const types = ["TitleSet", "StateUpdated"];
  for await (const page of log.read(threadStream(threadId), { from, types, backwards: true })) {
    for (const { type, data, metadata } of page) {
      if (metadata.by !== "client" && metadata.by !== "user") continue;
      const { title, field, value } = data as { title?: string | null; field?: string; value?: unknown };
      if (type === "TitleSet") return title;
      if (field === "title") return typeof value === "string" ? value : null;
    }
  }
  return undefined;
}

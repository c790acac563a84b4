import { v7 as uuidv7 } from "uuid";
import type { EventMetadata, NewEvent } from "../../../events/envelope.ts";
import type { Json } from "../../../events/json.ts";

/** An event ready to be appended; what is not given does not matter to the test. */
export function newEvent(
  given: {
    data?: Json;
    type?: string;
    id?: string;
    recordedAt?: string;
    metadata?: Partial<EventMetadata>;
  } = {},
): NewEvent {
  const { id = uuidv7(), type = "TitleSet", data = { title: "a title", origin: "user" } } = given;
  const { recordedAt = new Date().toISOString(), metadata } = given;
  return {
    id,
    type,
    data,
    recordedAt,
    metadata: { schema: 1, by: "user", causationId: id, correlationId: id, ...metadata },
  };
}

export function newEvents(count: number, given: Parameters<typeof newEvent>[0] = {}): NewEvent[] {
  return Array.from({ length: count }, () => newEvent(given));
}

/** All items of all pages. */
export async function collect<Item>(pages: AsyncIterable<readonly Item[]>): Promise<Item[]> {
  const items: Item[] = [];
  for await (const page of pages) items.push(...page);
  return items;
}

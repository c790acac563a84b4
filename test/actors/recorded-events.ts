import type { RecordedEvent } from "../../events/envelope.ts";

interface EventSource {
  events(): AsyncIterable<RecordedEvent>;
}

/** All events of a thread. */
export async function eventsOf(thread: EventSource): Promise<RecordedEvent[]> {
  const events: RecordedEvent[] = [];
  for await (const event of thread.events()) events.push(event);
  return events;
}

/** Types of a thread's events, in order. */
export async function typesOf(thread: EventSource): Promise<string[]> {
  return (await eventsOf(thread)).map(({ type }) => type);
}

/** Data of the events of one type. */
export async function dataOf<Data>(thread: EventSource, type: string): Promise<Data[]> {
  return (await eventsOf(thread)).filter((event) => event.type === type).map(({ data }) => data as Data);
}

interface AnyMessage {
  readonly type: string;
  readonly content: unknown;
  readonly tool_calls?: readonly { readonly id?: string }[];
  readonly tool_call_id?: string;
}

/** Ids of tool calls that have no result, in a list of messages. */
export function orphanCalls(messages: unknown): string[] {
  const list = messages as readonly AnyMessage[];
  const results = new Set(list.map((message) => message.tool_call_id));
  return list
    .flatMap((message) => (message.tool_calls ?? []).map((call) => call.id ?? ""))
    .filter((id) => !results.has(id));
}

/** `type: content` of each message. */
export function transcript(messages: unknown): string[] {
  return (messages as readonly AnyMessage[]).map(({ type, content }) => `${type}: ${content}`);
}

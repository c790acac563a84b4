import type { RecordedEvent } from "../../../events/envelope.ts";
import type { Json } from "../../../events/json.ts";

/** Longest text, in characters, and most members or items that a brief event keeps. */
const briefText = 300;
const briefMembers = 20;
const briefDepth = 6;

function briefly(value: Json, depth: number): Json {
  if (typeof value === "string") return value.length > briefText ? `${value.slice(0, briefText)}…` : value;
  if (typeof value !== "object" || value === null) return value;
  if (depth === 0) return "…";
  if (Array.isArray(value)) return value.slice(0, briefMembers).map((item) => briefly(item, depth - 1));
  const members = Object.entries(value).slice(0, briefMembers);
  return Object.fromEntries(members.map(([key, member]) => [key, briefly(member as Json, depth - 1)]));
}

/** The event with its data cut to what a line in a list can show. Its hash is that of the whole event. */
export function briefEvent(event: RecordedEvent): RecordedEvent {
  return { ...event, data: briefly(event.data, briefDepth) };
}

/** The event without its data. */
export function bareEvent(event: RecordedEvent): Omit<RecordedEvent, "data"> {
  const { data: _data, ...rest } = event;
  return rest;
}

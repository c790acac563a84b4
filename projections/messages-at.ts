import type { Message } from "../events/message.ts";
import { messages } from "../reducers/messages.ts";
import { composeReducers, type StateReducer } from "../reducers/thread-state.ts";
import { foldedTypes } from "./fields-at.ts";
import type { FoldPages } from "./fold-pages.ts";
import type { Segment } from "./lineage.ts";
import { createMessageEvents } from "./message-events.ts";

/** Folds the messages alone, reading only the events that bear messages. */
export interface MessagesReader {
  read(segments: readonly Segment[]): Promise<readonly Message[]>;
  forget(stream: string): void;
}

/** Undefined when the reducer has no field for messages. */
export function createMessagesReader(
  reducer: StateReducer,
  pages: FoldPages,
  maxBytes: number,
): MessagesReader | undefined {
  const definition = reducer.definitions.get(messages.field);
  if (!definition) return undefined;
  const own = composeReducers([{ source: "messages", reducers: [definition] }]);
  const events = createMessageEvents(pages, foldedTypes(own), maxBytes);
  return {
    async read(segments) {
      return own.fold(await events.read(segments))[messages.field] as readonly Message[];
    },
    forget: events.forget,
  };
}

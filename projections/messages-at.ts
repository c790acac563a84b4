import type { FoldEvent } from "../events/envelope.ts";
import type { Message } from "../events/message.ts";
import { messages } from "../reducers/messages.ts";
import { composeReducers, type State, type StateReducer } from "../reducers/thread-state.ts";
import { foldedTypes } from "./fields-at.ts";
import type { FoldPages } from "./fold-pages.ts";
import type { Segment } from "./lineage.ts";

/** Folds the messages alone, reading only the events that bear messages. */
export type MessagesReader = (segments: readonly Segment[]) => Promise<readonly Message[]>;

/** A fold copies the list once: so it takes many events at a time. */
const eventsPerFold = 8192;

/** Undefined when the reducer has no field for messages. */
export function createMessagesReader(reducer: StateReducer, pages: FoldPages): MessagesReader | undefined {
  const definition = reducer.definitions.get(messages.field);
  if (!definition) return undefined;
  const own = composeReducers([{ source: "messages", reducers: [definition] }]);
  const types = foldedTypes(own);
  return async (segments) => {
    let state: State = own.initial;
    let waiting: FoldEvent[] = [];
    for await (const { events } of pages(segments, types)) {
      for (const event of events) waiting.push(event);
      if (waiting.length < eventsPerFold) continue;
      state = own.fold(waiting, state);
      waiting = [];
    }
    return own.fold(waiting, state)[messages.field] as readonly Message[];
  };
}

import { defineReducer, type ReducerDefinition } from "../../reducers/define-reducer.ts";

const clear = (): undefined => undefined;

/**
 * A field that holds a notice from the event that caused it until the model has answered: so that a notice for the
 * next request only survives a restart in between, and is neither repeated nor stored as a message.
 *
 * @param options.text the notice, from the event's data
 * @example
 * nextRequestNotice({ field: "pending_hint", event: "HintGiven", text: (data) => data.text })
 */
export function nextRequestNotice<Data>(options: {
  field: string;
  event: string;
  text: (data: Data) => string;
}): ReducerDefinition<string | undefined> {
  const { field, event, text } = options;
  return defineReducer<string | undefined>({
    field,
    initial: undefined,
    algebra: "last-write",
    on: {
      [event]: (_notice: string | undefined, data: Data) => text(data),
      ModelResponded: clear,
      RunStarted: clear,
    },
  });
}

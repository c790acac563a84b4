import type { EventDraft } from "../../events/define-event.ts";
import type { NewEvent } from "../../events/envelope.ts";
import type { Json } from "../../events/json.ts";
import type { Store } from "../../events/store.ts";
import { idFrom } from "../id-from.ts";

/**
 * Wraps a store so that just before one of its appends another program appends an event to the same stream: the append
 * finds another version than it expects.
 *
 * @param options.at the append, counted from 1
 * @example
 * createAgent({ model, store: intrudingStore(store, { at: 2, draft: TitleSet({ title: "Mine", origin: "user" }) }) });
 */
export function intrudingStore(
  inner: Store,
  { at, draft }: { readonly at: number; readonly draft: EventDraft },
): Store {
  let appends = 0;
  const id = idFrom(`intruder ${at} ${JSON.stringify(draft)}`);
  const metadata = { schema: 1, by: "client", causationId: id, correlationId: id } as const;
  const recordedAt = new Date(0).toISOString();
  const intruder: NewEvent = { id, type: draft.type, data: draft.data as Json, recordedAt, metadata };
  return {
    ...inner,
    log: {
      ...inner.log,
      async append(stream, events, options) {
        appends += 1;
        if (appends === at) await inner.log.append(stream, [intruder], { expectedVersion: "any" });
        return inner.log.append(stream, events, options);
      },
    },
    close: async () => undefined,
  };
}

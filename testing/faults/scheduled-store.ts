import type fc from "fast-check";
import type { Store } from "../../events/store.ts";

/**
 * Wraps a store so that a fast-check scheduler decides when each append takes effect and when its caller hears of it:
 * everything that runs at the same time is tried in many orders.
 *
 * @example
 * fc.assert(fc.asyncProperty(fc.scheduler(), async (scheduler) => {
 *   const agent = createAgent({ model, store: scheduledStore(store, scheduler) });
 *   await scheduler.waitFor(agent.thread("t").run("go").result);
 * }));
 */
export function scheduledStore(inner: Store, scheduler: fc.Scheduler): Store {
  const turn = (label: string) => scheduler.schedule(Promise.resolve(), label);
  return {
    ...inner,
    log: {
      ...inner.log,
      async append(stream, events, options) {
        const types = events.map(({ type }) => type).join(" ");
        await turn(`append ${types}`);
        const result = await inner.log.append(stream, events, options);
        await turn(`acknowledge ${types}`);
        return result;
      },
    },
    close: async () => undefined,
  };
}

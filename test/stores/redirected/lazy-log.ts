import type { EventLog } from "../../../events/log/event-log.ts";

/** A log that is opened by the first call. Without the faster read for folds: who takes a bare log counts its reads. */
export function lazyLog(kind: string, open: () => Promise<EventLog>): EventLog {
  let opening: Promise<EventLog> | undefined;
  const opened = () => {
    opening ??= open();
    return opening;
  };
  return {
    kind,
    append: async (...given) => (await opened()).append(...given),
    async *read(...given) {
      yield* (await opened()).read(...given);
    },
    async *readAll(...given) {
      yield* (await opened()).readAll(...given);
    },
    async *subscribe(...given) {
      yield* (await opened()).subscribe(...given);
    },
    head: async (...given) => (await opened()).head(...given),
    streams: async (...given) => (await opened()).streams(...given),
    erase: async (...given) => (await opened()).erase(...given),
    close: async () => (await opened()).close(),
  };
}

import type { DataOf } from "../events/define-event.ts";
import { ThreadDataBound } from "../events/thread-data.ts";
import { defineReducer } from "./define-reducer.ts";
import { keepWhenSame, sameJson } from "./same-json.ts";

export type ThreadData = DataOf<typeof ThreadDataBound>;

/** The thread's folders. The last binding wins. */
export const threadData = defineReducer<ThreadData | undefined>({
  field: "thread_data",
  initial: undefined,
  algebra: "replace",
  on: { ThreadDataBound: (current, data) => keepWhenSame<ThreadData | undefined>(current, data) },
  fromUpdate: (update, current) =>
    update == null || sameJson(update, current) ? [] : [ThreadDataBound(update as ThreadData)],
});

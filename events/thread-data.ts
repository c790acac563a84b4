import { defineEvent } from "./define-event.ts";
import { lazySchema } from "./zod.ts";

const path = lazySchema((z) => z.string().nullable().optional());

/** The thread's folders became known. Recorded again only when they changed. */
export const ThreadDataBound = defineEvent({
  type: "ThreadDataBound",
  schema: (z) => z.object({ workspace_path: path(), uploads_path: path(), outputs_path: path() }),
});

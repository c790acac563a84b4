import { z } from "zod";
import { defineEvent } from "./define-event.ts";

const path = z.string().nullable().optional();

/** The thread's folders became known. Recorded again only when they changed. */
export const ThreadDataBound = defineEvent({
  type: "ThreadDataBound",
  schema: z.object({ workspace_path: path, uploads_path: path, outputs_path: path }),
});

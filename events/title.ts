import { defineEvent } from "./define-event.ts";
import { lazySchema } from "./zod.ts";

/** Who chose a title. A user's title wins over all others. */
const titleOriginSchema = lazySchema((z) => z.enum(["auto", "llm", "user", "interrupted"]));

/** The thread got a title; null takes it away. */
export const TitleSet = defineEvent({
  type: "TitleSet",
  schema: (z) => z.object({ title: z.string().nullable(), origin: titleOriginSchema() }),
  content: ["title"],
});

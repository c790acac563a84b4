import { z } from "zod";
import { defineEvent } from "./define-event.ts";

/** Who chose a title. A user's title wins over all others. */
const titleOriginSchema = z.enum(["auto", "llm", "user", "interrupted"]);

/** The thread got a title; null takes it away. */
export const TitleSet = defineEvent({
  type: "TitleSet",
  schema: z.object({ title: z.string().nullable(), origin: titleOriginSchema }),
  content: ["title"],
});

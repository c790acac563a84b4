import { defineEvent } from "./define-event.ts";

export const StructuredResponseProduced = defineEvent({
  type: "StructuredResponseProduced",
  schema: (z) => z.object({ value: z.json() }),
  content: ["value"],
});

import { defineEvent } from "./define-event.ts";

/** The thread's goal was set; null clears it. */
export const GoalSet = defineEvent({
  type: "GoalSet",
  schema: (z) => z.object({ goal: z.record(z.string(), z.json()).nullable() }),
  content: ["goal"],
});

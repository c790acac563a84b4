import { defineEvent } from "./define-event.ts";

/** The model gave nothing and was asked once more. Counted per run. */
export const EmptyAnswerRetried = defineEvent({
  type: "EmptyAnswerRetried",
  schema: (z) => z.object({ runId: z.string(), text: z.string() }),
});

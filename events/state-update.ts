import { defineEvent } from "./define-event.ts";

/**
 * A field without an event of its own was updated: `value` goes through the field's reducer. With `replace` the value
 * takes the place of what any field holds (an edit from outside).
 */
export const StateUpdated = defineEvent({
  type: "StateUpdated",
  schema: (z) => z.object({ field: z.string().min(1), value: z.json(), replace: z.literal(true).optional() }),
  content: ["value"],
});

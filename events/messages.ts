import { defineEvent } from "./define-event.ts";
import { messagesSchema } from "./message.ts";

/** Messages were added. One whose id is already in the list takes the place of the old one. */
export const MessagesAdded = defineEvent({
  type: "MessagesAdded",
  schema: (z) => z.object({ messages: messagesSchema() }),
  content: ["messages"],
});

/** Messages that are in the list were replaced in place. An id that is not in the list is an error. */
export const MessagesReplaced = defineEvent({
  type: "MessagesReplaced",
  schema: (z) => z.object({ messages: messagesSchema() }),
  content: ["messages"],
});

/** Messages were removed by id, or all of them. An id that is not in the list is an error. */
export const MessagesRemoved = defineEvent({
  type: "MessagesRemoved",
  schema: (z) => z.union([z.object({ ids: z.array(z.string()).min(1) }), z.object({ all: z.literal(true) })]),
});

/** The model stopped seeing the messages before `keptFrom` and sees a summary in their place. The list keeps them. */
export const HistoryCompacted = defineEvent({
  type: "HistoryCompacted",
  schema: (z) =>
    z.object({
      summary: z.string(),
      /** Id of the first message that the model still sees; null: none of those so far. */
      keptFrom: z.string().nullable(),
      /** Ids before `keptFrom` that the model still sees all the same (the current request, reminders). */
      keptIds: z.array(z.string()).optional(),
    }),
  content: ["summary"],
});

import { TitleSet } from "../events/title.ts";
import { defineReducer } from "./define-reducer.ts";

/**
 * The thread's title. A title of the user's wins whenever it comes; a title that a program chose only fills an empty
 * place. So a rename survives every later automatic title, and null or "" from the user asks for a new one.
 */
export const title = defineReducer<string | null | undefined>({
  field: "title",
  initial: undefined,
  on: {
    TitleSet: (current, data) => (data.origin === "user" || !current ? data.title : current),
  },
  fromUpdate: (update, current) =>
    update == null || update === current ? [] : [TitleSet({ title: update as string, origin: "auto" })],
});

import type { DataOf } from "../events/define-event.ts";
import { GoalSet } from "../events/goal.ts";
import { defineReducer } from "./define-reducer.ts";
import { keepWhenSame, sameJson } from "./same-json.ts";

export type Goal = DataOf<typeof GoalSet>["goal"];

/** The thread's goal. Only the event clears it (null stays in state); a null update changes nothing. */
export const goal = defineReducer<Goal | undefined>({
  field: "goal",
  initial: undefined,
  algebra: "replace",
  on: { GoalSet: (current, data) => keepWhenSame<Goal | undefined>(current, data.goal) },
  fromUpdate: (update, current) =>
    update == null || sameJson(update, current) ? [] : [GoalSet({ goal: update as Goal })],
});

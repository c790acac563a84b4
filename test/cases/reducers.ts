import type { ReducerCase } from "./reducer-case.ts";
import { artifactCases, delegationCases, imageCases, skillCases } from "./reducers-collections.ts";
import { messageCases } from "./reducers-messages.ts";
import { goalCases, promotedCases, sandboxCases, todoCases } from "./reducers-values.ts";

/** Facts about the fields of a thread's state, by the case that states them. */
export const reducerCases: readonly ReducerCase[] = [
  ...sandboxCases,
  ...artifactCases,
  ...imageCases,
  ...todoCases,
  ...goalCases,
  ...promotedCases,
  ...delegationCases,
  ...skillCases,
  ...messageCases,
];

import { artifacts } from "./artifacts.ts";
import { compaction, summaryText } from "./compaction.ts";
import type { AnyReducerDefinition } from "./define-reducer.ts";
import { delegations } from "./delegations.ts";
import { goal } from "./goal.ts";
import { viewedImages } from "./images.ts";
import { messages } from "./messages.ts";
import { promoted } from "./promoted-tools.ts";
import { sandbox } from "./sandbox.ts";
import { skillContext } from "./skills.ts";
import { structuredResponse } from "./structured-response.ts";
import { threadData } from "./thread-data.ts";
import { composeReducers, type StateReducer } from "./thread-state.ts";
import { title } from "./title.ts";
import { todos } from "./todos.ts";
import { uploadedFiles } from "./uploads.ts";

/** Reducers of the fields that every thread has, whatever its middlewares. */
export const baseReducers: readonly AnyReducerDefinition[] = [
  messages,
  summaryText,
  compaction,
  structuredResponse,
];

/** Reducers of all fields that Threadfold knows. */
export const builtInReducers: readonly AnyReducerDefinition[] = [
  ...baseReducers,
  sandbox,
  threadData,
  title,
  artifacts,
  todos,
  uploadedFiles,
  viewedImages,
  promoted,
  goal,
  delegations,
  skillContext,
];

/**
 * A reducer of all built-in fields, for reading a log without the agent that wrote it.
 *
 * @param options.openFields fold `StateUpdated` for fields that are not built in, too: the last value wins
 * @example
 * createThreadReducer({ openFields: true }).fold(events).todos;
 */
export function createThreadReducer(options: { readonly openFields?: boolean } = {}): StateReducer {
  return composeReducers([{ source: "threadfold", reducers: builtInReducers }], options);
}

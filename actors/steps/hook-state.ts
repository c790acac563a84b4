import type { Message } from "../../events/message.ts";
import type { State } from "../../reducers/thread-state.ts";
import { deepFreeze } from "../messages/deep-freeze.ts";
import { toLangChainList } from "../messages/to-langchain.ts";
import type { HookState } from "../middleware/define-middleware.ts";

const shown = new WeakMap<State, HookState>();

/**
 * The state as hooks and tools see it: frozen, messages as LangChain's classes. Messages are converted when somebody
 * looks at them.
 */
export function hookState(state: State): HookState {
  const known = shown.get(state);
  if (known) return known;
  const view: Record<string, unknown> = {};
  for (const [field, value] of Object.entries(state)) {
    if (field !== "messages") view[field] = deepFreeze(value);
  }
  const messages = (state.messages ?? []) as readonly Message[];
  Object.defineProperty(view, "messages", { enumerable: true, get: () => toLangChainList(messages) });
  Object.freeze(view);
  shown.set(state, view as HookState);
  return view as HookState;
}

import type { Message } from "../../events/message.ts";
import type { State } from "../../reducers/thread-state.ts";
import { deepFreeze } from "../messages/deep-freeze.ts";
import { toLangChainList } from "../messages/to-langchain.ts";
import type { HookState } from "../middleware/define-middleware.ts";

const shown = new WeakMap<State, HookState>();

const stored = Symbol("threadfold.stored-messages");

/** One getter for all views: an object with a getter of its own costs the engine a hidden class that lives long. */
const messagesOnDemand = {
  enumerable: true,
  get(this: { readonly [stored]: readonly Message[] }) {
    return toLangChainList(this[stored]);
  },
};

/**
 * The state as hooks and tools see it: frozen, messages as LangChain's classes. Messages are converted when somebody
 * looks at them.
 */
export function hookState(state: State): HookState {
  const known = shown.get(state);
  if (known) return known;
  const view: Record<string | symbol, unknown> = {};
  for (const [field, value] of Object.entries(state)) {
    if (field !== "messages") view[field] = deepFreeze(value);
  }
  Object.defineProperty(view, stored, { value: state.messages ?? [] });
  Object.defineProperty(view, "messages", messagesOnDemand);
  Object.freeze(view);
  shown.set(state, view as HookState);
  return view as HookState;
}

import type { FoldEvent } from "../events/envelope.ts";
import type { EventRegistry } from "../events/event-registry.ts";
import {
  createRunFactsReducer,
  initialFacts,
  runFactsField,
  type ThreadFacts,
} from "../reducers/run-facts.ts";
import { composeReducers, type State, type StateReducer } from "../reducers/thread-state.ts";
import type { KnownFold } from "./steps/step-contract.ts";

/** A thread at one version: its state, and what is known of its runs. */
export interface ThreadView {
  readonly version: number;
  readonly state: State;
  readonly facts: ThreadFacts;
}

/** Folds state and facts side by side. */
export interface ViewFold {
  readonly empty: ThreadView;
  /** The reducer of both as one, for loading a thread with its snapshots. */
  readonly reducer: StateReducer;
  /**
   * @param known how the event folded before; used when it stands on the same state and version again
   * @throws {FoldError}
   */
  apply(view: ThreadView, event: FoldEvent, known?: KnownFold): ThreadView;
  /** What the facts will be after an event that is not recorded yet. */
  applyFacts(facts: ThreadFacts, event: FoldEvent): ThreadFacts;
  /** The view of a state that `reducer` folded. */
  fromLoaded(state: State, version: number): ThreadView;
}

function standsOn(known: KnownFold | undefined, state: State, event: FoldEvent): known is KnownFold {
  return known !== undefined && known.from === state && known.version === event.version;
}

/** @param reducer the agent's */
export function createViewFold(reducer: StateReducer, registry: EventRegistry): ViewFold {
  const facts = { source: "the runtime", reducers: [createRunFactsReducer(registry.types)] };
  const factsReducer = composeReducers([facts]);
  const applyFacts = (before: ThreadFacts, event: FoldEvent) =>
    factsReducer.apply({ [runFactsField]: before }, event)[runFactsField] as ThreadFacts;
  const definitions = [...reducer.definitions.values()];
  return {
    empty: { version: 0, state: reducer.initial, facts: initialFacts },
    reducer: composeReducers([{ source: "the agent", reducers: definitions }, facts], {
      openFields: reducer.openFields,
    }),
    applyFacts,
    apply: (view, event, known) => ({
      version: event.version,
      state: standsOn(known, view.state, event) ? known.to : reducer.apply(view.state, event),
      facts: applyFacts(view.facts, event),
    }),
    fromLoaded(loaded, version) {
      const { [runFactsField]: found, ...state } = loaded;
      return { version, state, facts: (found as ThreadFacts | undefined) ?? initialFacts };
    },
  };
}

import { threadMachineDefinition } from "../../actors/lifecycle.ts";
import type { TakenTransition } from "./lifecycle-twin.ts";

/** Which states and transitions of the lifecycle were taken, and how often. */
export interface LifecycleCoverage {
  /** Counts a transition, and the state that the lifecycle is in after it. */
  take(transition: TakenTransition | undefined, at: string): void;
  /** States of the definition that nothing has entered. */
  readonly missingStates: readonly string[];
  /** Transitions of the definition that nothing has taken, as `from → to: when`. */
  readonly missingTransitions: readonly string[];
  /** Transitions that were taken and that the definition does not have. */
  readonly unknownTransitions: readonly string[];
  /** One line: `12 of 12 states, 61 of 61 transitions`. */
  toString(): string;
}

function nameOf({ from, to, when }: TakenTransition): string {
  return `${from} → ${to}: ${when}`;
}

/** Counts what model-based tests take, over as many runs as you like. */
export function createLifecycleCoverage(): LifecycleCoverage {
  const taken = new Map<string, number>();
  const { initial, states, transitions } = threadMachineDefinition;
  const entered = new Set([initial]);
  const names = new Set(transitions.map(nameOf));
  const missing = () => [...names].filter((name) => !taken.has(name));
  return {
    take(transition, at) {
      if (!transition) return;
      const name = nameOf(transition);
      taken.set(name, (taken.get(name) ?? 0) + 1);
      entered.add(at);
    },
    get missingStates() {
      return states.filter((state) => !entered.has(state));
    },
    get missingTransitions() {
      return missing();
    },
    get unknownTransitions() {
      return [...taken.keys()].filter((name) => !names.has(name));
    },
    toString: () =>
      `${entered.size} of ${states.length} states, ${names.size - missing().length} of ${names.size} transitions`,
  };
}

import type { Wording } from "./wording.ts";

/** A tool call that the planner wants. */
export interface WantedCall {
  readonly name: string;
  readonly args: Readonly<Record<string, unknown>>;
}

/** How a wanted call ended. */
export interface CallResult {
  readonly text: string;
  readonly failed: boolean;
}

/** What a step gave: text for the answer, and what the next step may refer to. */
export interface StepOutcome {
  readonly text: string;
  readonly failed?: boolean;
  /** Files that `them` and `their` mean afterwards; left out: as before. */
  readonly files?: readonly string[];
}

/** What a step knows. */
export interface StepContext {
  readonly has: (tool: string) => boolean;
  readonly wording: Wording;
  /** Files of the step before. */
  readonly files: readonly string[];
  /** Text of the step before. */
  readonly text: string | undefined;
}

/** A step at work: it asks for rounds of tool calls and is given their results, in the order of the calls. */
export type StepWork = Generator<readonly WantedCall[], StepOutcome, readonly CallResult[]>;

/** A step cannot be done; the message is for the reader of the answer. */
export class StepFailed extends Error {
  override readonly name = "StepFailed";
}

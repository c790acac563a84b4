import type { BlobStore } from "../../events/blobs/blob-store.ts";
import type { EventDraft } from "../../events/define-event.ts";
import type { Emitter } from "../../events/envelope.ts";
import type { Json } from "../../events/json.ts";
import type { ToolCall } from "../../events/message.ts";
import type { State } from "../../reducers/thread-state.ts";
import type { RunItem } from "../agent-contract.ts";
import type { Assembly } from "../assembly.ts";
import type { InterruptRequest } from "../interrupt.ts";
import type { JumpTarget, RunFacts } from "../middleware/define-middleware.ts";

/** A draft with who emitted it; the runtime mints id and time when it appends. */
export interface AttributedDraft {
  readonly draft: EventDraft;
  readonly by: Emitter;
  /** How it folded when it was drafted. */
  readonly folded?: KnownFold;
}

/** The state after a draft, for as long as it is appended onto the state and the version that it was folded onto. */
export interface KnownFold {
  readonly from: State;
  readonly version: number;
  readonly to: State;
}

/** Everything a step needs. Steps read it, call user code, and give drafts back; they append nothing. */
export interface StepContext {
  readonly assembly: Assembly;
  readonly threadId: string;
  readonly runId: string;
  readonly step: number;
  /** Folded state (messages in stored form) after everything that is recorded or already drafted in this batch. */
  readonly state: State;
  /** Version of the stream that `state` stands on; drafts of this batch are not counted. */
  readonly version: number;
  /** This run's context as given; each middleware gets the keys of its own `contextSchema`, parsed. */
  readonly context: Readonly<Record<string, unknown>>;
  readonly configurable: Readonly<Record<string, unknown>>;
  readonly signal: AbortSignal;
  readonly blobs: BlobStore;
  readonly folder: string;
  readonly run: RunFacts;
  /** Milliseconds after which a tool call is given up; undefined: never. */
  readonly toolTimeoutMs?: number | undefined;
  /** Id of a model call that was started and never answered, when it is asked again after a restart: keep it. */
  readonly callId?: string | undefined;
  /** Publishes live items (tokens, custom chunks). */
  publish(item: RunItem): void;
  /** Records facts about a call that is under way: other arguments than the model's. Given while tools run. */
  readonly record?: (drafts: readonly AttributedDraft[]) => Promise<void>;
}

export type HookPhase = "beforeAgent" | "beforeModel" | "afterModel" | "afterAgent";

/** What the hooks of one phase gave, in the order they ran (a later hook sees the state after the drafts of earlier ones). */
export interface HookStepOutcome {
  readonly drafts: readonly AttributedDraft[];
  /** State after the drafts. */
  readonly state: State;
  /** The first jump stops the phase: later hooks of it do not run. */
  readonly jumpTo: JumpTarget | undefined;
  readonly interrupts: readonly InterruptRequest[];
}

/** What the next model call of the thread needs to know of this one, so that it records only what is new. Opaque. */
export interface PreviousView {
  readonly callId: string;
}

/**
 * A model call that is ready to go: the facts to append first, and the call itself. `prepareModelCall` has run the
 * `wrapModelCall` chain up to its innermost handler, which waits there until `execute` or `abandon` is called.
 */
export interface PreparedModelCall {
  readonly callId: string;
  /** `ModelCallStarted` and what stands with it. Append it as the last of its batch, then call `execute`. */
  readonly started: readonly AttributedDraft[];
  /**
   * Calls the model, streaming tokens to `publish`. The drafts end with `ModelResponded`; the events of the chain
   * stand before it. A chain that tries again with another request gives its `ModelCallStarted` (and the
   * `ModelCallFailed` before it) to `record`, which appends them as a batch of its own before the second try goes out.
   *
   * @throws {ModelCallError} the call failed for good; append its `drafts` with the failure of the run
   */
  execute(record: (drafts: readonly AttributedDraft[]) => Promise<void>): Promise<readonly AttributedDraft[]>;
  /** Unwinds the chain when `started` could not be appended. After `execute` it does nothing. */
  abandon(): void;
  /** Edits in force after what was given to be recorded so far: hand it to the thread's next `prepareModelCall`. */
  view(): PreviousView;
}

/** An answer to an interrupt that a tool call asked for, with who asked. */
export interface ToolCallAnswer {
  readonly by: Emitter;
  readonly decision: Json;
}

/** A tool call that waits to run. `args` are those to run with (edited ones included). */
export interface PendingToolCall {
  readonly call: ToolCall & { readonly id: string };
  /**
   * Answers to all interrupts that this call asked for so far, oldest first; empty on the first pass. Each middleware
   * (and the tool) sees the last answer to a question of its own, so an approval is not taken for the tool's answer.
   */
  readonly answers: readonly ToolCallAnswer[];
}

/** How one tool call ended: with drafts (its result and the state events beside it), or with a question. */
export type ToolCallOutcome =
  | {
      readonly kind: "ended";
      /** The result (`ToolCallCompleted` or `ToolCallFailed`) comes first, then its state events. */
      readonly drafts: readonly AttributedDraft[];
      readonly goto: JumpTarget | undefined;
      readonly returnDirect: boolean;
    }
  | {
      readonly kind: "interrupted";
      readonly request: InterruptRequest;
      /** Who asks: keep it in the interrupt (`by`), and give it back in `answers`. */
      readonly by: Emitter;
    };

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
  /** Publishes live items (tokens, custom chunks). */
  publish(item: RunItem): void;
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

/** A model call that is ready to go: the facts to append first, and the call itself. */
export interface PreparedModelCall {
  readonly callId: string;
  /** `ModelCallStarted` and what stands with it. */
  readonly started: readonly AttributedDraft[];
  /**
   * Calls the model through the `wrapModelCall` chain, streaming tokens to `publish`. The drafts end with
   * `ModelResponded` (events of the chain come before it), or hold `ModelCallFailed` for tries that failed.
   * Rejects when the call failed for good; `failed` then are drafts to record with the failure.
   */
  execute(): Promise<readonly AttributedDraft[]>;
}

/** A tool call that waits to run. `args` are those to run with (edited ones included). */
export interface PendingToolCall {
  readonly call: ToolCall & { readonly id: string };
  /** Answer to the interrupt that the call asked for; undefined on the first pass. */
  readonly decision: Json | undefined;
}

/** How one tool call ended: with drafts (its result and the state events beside it), or with a question. */
export type ToolCallOutcome =
  | {
      readonly kind: "ended";
      readonly drafts: readonly AttributedDraft[];
      readonly goto: JumpTarget | undefined;
      readonly returnDirect: boolean;
    }
  | { readonly kind: "interrupted"; readonly request: InterruptRequest };

import { AsyncLocalStorage } from "node:async_hooks";
import type { EventDraft } from "../../events/define-event.ts";
import type { Message } from "../../events/message.ts";
import type { AttributedDraft, HookPhase } from "./step-contract.ts";

/** What a middleware did beside a tool call, as it was recorded. */
interface RecordedWrap {
  readonly message: Message;
  readonly events: readonly EventDraft[];
}

/** Answers of the world outside, taken from a recorded run. Whatever is not recorded throws. */
export interface RecordedAnswers {
  /** What the run was given; undefined: the input of the call counts. */
  readonly input: readonly AttributedDraft[] | undefined;
  /** The next answer of the model. @throws {ReplayMissError} @throws the error that was recorded */
  model(): Promise<Message>;
  /** What a tool gave, or asked, raw. @throws {ReplayMissError} @throws the error that was recorded */
  tool(call: { readonly id: string; readonly name: string }): Promise<unknown>;
  /** Resolves when a call may record how it ended: in the order in which calls ended then. */
  turn(callId: string): Promise<void>;
  /** What a model wrote for a middleware: a title or a summary. @throws {ReplayMissError} */
  written(what: "title" | "summary"): string;
  /** Events of an external middleware's hook. */
  hook(middleware: string, phase: HookPhase | "release"): readonly EventDraft[];
  /** What an external middleware recorded beside a tool call; undefined: nothing. */
  wrap(middleware: string, callId: string): RecordedWrap | undefined;
}

// Models and tools are reached through code of users, so the answers travel with the calls and not in arguments.
const current = new AsyncLocalStorage<RecordedAnswers>();

/** The recorded answers that stand in for the world outside, while a run is done again. */
export function recordedAnswers(): RecordedAnswers | undefined {
  return current.getStore();
}

/** Does work in which models, tools and external middlewares answer from a recorded run. */
export function withRecordedAnswers<Result>(answers: RecordedAnswers, work: () => Result): Result {
  return current.run(answers, work);
}

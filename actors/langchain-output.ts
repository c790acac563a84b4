import { holdsBlobs, resolveBlobs } from "../events/blobs/blob-content.ts";
import type { BlobStore } from "../events/blobs/blob-store.ts";
import type { Message } from "../events/message.ts";
import type { Interrupt } from "../events/run.ts";
import type { State } from "../reducers/thread-state.ts";
import type { RunResult } from "./agent-contract.ts";
import { toLangChain, toLangChainList } from "./messages/to-langchain.ts";

/** A run failed. `cause` is what was thrown. */
export class RunFailedError extends Error {
  override readonly name = "RunFailedError";
  constructor(
    readonly result: RunResult,
    override readonly cause: unknown,
  ) {
    const { runId, threadId, error } = result;
    super(`Run ${runId} of thread ${threadId} failed: ${error?.name}: ${error?.message}`, { cause });
  }
}

/** A run was cancelled before its end. */
export class RunCancelledError extends Error {
  override readonly name = "RunCancelledError";
  constructor(readonly result: RunResult) {
    super(`Run ${result.runId} of thread ${result.threadId} was cancelled.`);
  }
}

/** Interrupts as LangGraph shows them. */
export function langGraphInterrupts(interrupts: readonly Interrupt[]): { id: string; value: unknown }[] {
  return interrupts.map(({ id, value }) => ({ id, value }));
}

/** A message as an instance of LangChain's, with its content out of the blob store. */
export async function langChainMessage(message: Message, blobs: BlobStore) {
  return toLangChain(holdsBlobs(message) ? await resolveBlobs(message, blobs) : message);
}

/** A state as LangChain's callers know it: messages as instances, `structuredResponse` beside our name for it. */
export async function langChainState(state: State, blobs: BlobStore): Promise<Record<string, unknown>> {
  const messages = (state.messages ?? []) as readonly Message[];
  const instances = messages.some(holdsBlobs)
    ? await Promise.all(messages.map((message) => langChainMessage(message, blobs)))
    : [...toLangChainList(messages)];
  return {
    ...state,
    messages: instances,
    ...(state.structured_response !== undefined && { structuredResponse: state.structured_response }),
  };
}

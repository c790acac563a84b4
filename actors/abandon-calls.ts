import { ToolCallAbandoned } from "../events/tool.ts";
import type { OpenCall } from "../reducers/run-facts.ts";
import type { Assembly } from "./assembly.ts";
import { mintId } from "./mint-id.ts";
import type { PlannedEvent } from "./thread-append.ts";

/** Why a call gets no result of its own, and what the model is told. */
const explanations = {
  cancelled: "The run was cancelled before this call gave a result. It may have had effects.",
  failed: "The run failed before this call gave a result. It may have had effects.",
  "not-run": "This call was not made: the run ended before.",
  superseded: "This call was not made: the user went on with another message instead of answering.",
  "max-model-calls": "This call was not made: the run has used up its model calls.",
  "max-steps": "This call was not made: the run has used up its steps.",
  "outcome unknown":
    "The process stopped while this call was running, so its outcome is unknown: it may have had effects, or none. " +
    "Check before you make it again.",
} as const;

export type AbandonReason = keyof typeof explanations;

/** True for tools that may run twice. */
export function isIdempotent(assembly: Assembly, toolName: string): boolean {
  return assembly.tools.some((tool) => tool.name === toolName && tool.idempotent === true);
}

/** Closes a call with a result that says why there is none, so that no provider ever sees a call without a result. */
export function abandonCall(call: OpenCall, reason: AbandonReason, cause: string | undefined): PlannedEvent {
  const message = {
    id: mintId(),
    type: "tool",
    content: explanations[reason],
    tool_call_id: call.id,
    name: call.name,
    status: "error",
  };
  return { draft: ToolCallAbandoned({ callId: call.id, message, reason }), by: "runtime", cause };
}

import type { EventDraft } from "../../events/define-event.ts";
import type { ToolCall } from "../../events/message.ts";
import { ToolCallAbandoned } from "../../events/tool.ts";
import { ToolMessage } from "../langchain.ts";
import { mintId } from "../mint-id.ts";

/** The error message that a call gets in place of a result. */
export function errorResult(
  call: { readonly id: string; readonly name: string },
  content: string,
): ToolMessage {
  return new ToolMessage({ content, name: call.name, tool_call_id: call.id, status: "error" });
}

/** A call that is refused before it runs, from a hook after the model: the call has its result and never starts. */
export function refuseCall(
  call: ToolCall & { readonly id: string },
  content: string,
  reason: string,
): EventDraft {
  return ToolCallAbandoned({
    callId: call.id,
    reason,
    message: {
      id: mintId(),
      type: "tool",
      content,
      name: call.name,
      tool_call_id: call.id,
      status: "error",
    },
  });
}

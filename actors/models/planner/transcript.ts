import { AIMessage, type BaseMessage, HumanMessage, ToolMessage } from "@langchain/core/messages";
import type { CallResult } from "./work.ts";

/** What the planner reads out of a conversation. */
export interface Transcript {
  /** Text of the last thing a human asked for; undefined: there is none. */
  readonly request: string | undefined;
  /** Results of the tool calls since then, by assistant message. */
  readonly rounds: readonly (readonly CallResult[])[];
  /** The request was answered already, and something reminded the model of open work. */
  readonly reminded: boolean;
}

/** Blocks that middlewares put in front of what the human wrote. */
const injected =
  /<(current_uploads|uploaded_files|system[-_]reminder|memory|todo_list)\b[^>]*>[\s\S]*?<\/\1>/g;

function isRequest(message: BaseMessage): boolean {
  if (!HumanMessage.isInstance(message)) return false;
  return !(message.additional_kwargs.hide_from_ui === true || /reminder|summary/.test(message.name ?? ""));
}

function requestText(message: BaseMessage): string {
  const original = message.additional_kwargs.original_user_content;
  const text = typeof original === "string" ? original : message.text;
  return text.replace(injected, "").trim();
}

/** Reads the open request and what was done for it. */
export function readTranscript(messages: readonly BaseMessage[]): Transcript {
  const at = messages.findLastIndex(isRequest);
  const asked = messages[at];
  if (!asked) return { request: undefined, rounds: [], reminded: false };
  const since = messages.slice(at + 1);
  const results = new Map<string, CallResult>();
  for (const message of since) {
    if (ToolMessage.isInstance(message)) {
      results.set(message.tool_call_id, { text: message.text, failed: message.status === "error" });
    }
  }
  const answers = since.filter((message) => AIMessage.isInstance(message));
  const rounds = answers
    .filter((answer) => (answer.tool_calls ?? []).length > 0)
    .map((answer) =>
      (answer.tool_calls ?? []).map(
        ({ id }) => results.get(id ?? "") ?? { text: "The call got no result.", failed: true },
      ),
    );
  const answeredAt = since.findIndex(
    (message) =>
      AIMessage.isInstance(message) && (message.tool_calls ?? []).length === 0 && message.text !== "",
  );
  const reminded =
    answeredAt >= 0 && since.slice(answeredAt + 1).some((message) => HumanMessage.isInstance(message));
  return { request: requestText(asked), rounds, reminded };
}

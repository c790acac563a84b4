import type { AIMessage, BaseMessage } from "@langchain/core/messages";
import { canonicalJson } from "../../events/canonical-json.ts";
import { RunCapped } from "../../events/run.ts";
import { createMiddleware, type RunFacts } from "./define-middleware.ts";
import { hiddenMessage, lastUserIndex } from "./hidden-message.ts";
import { callsOf, isAnswer, lastAnswer } from "./last-answer.ts";
import { trimToolCalls } from "./trim-tool-calls.ts";

export interface LoopDetectionOptions {
  /** The same calls this many times in the window: a warning in the next request. Default 3. */
  readonly warnAt?: number;
  /** The same calls this many times in the window: the run ends. Default 5. */
  readonly stopAt?: number;
  /** Answers with tool calls that are looked at, newest first. Default 20. */
  readonly window?: number;
  /** Calls of one tool in a run, whatever the arguments: a warning. Default 30. */
  readonly warnPerTool?: number;
  /** Calls of one tool in a run, whatever the arguments: the run ends. Default 50. */
  readonly stopPerTool?: number;
}

/** What an answer calls, whatever the ids and the order. */
function signature(answer: AIMessage): string {
  return callsOf(answer)
    .map(({ name, args }) => `${name} ${canonicalJson(args)}`)
    .sort()
    .join("\n");
}

/** How often the newest answer's calls were made since the user's last message, itself included. */
function repeats(messages: readonly BaseMessage[], window: number): number {
  const recent = messages
    .slice(lastUserIndex(messages) + 1)
    .filter((message): message is AIMessage => isAnswer(message) && callsOf(message).length > 0)
    .slice(-window)
    .map(signature);
  const newest = recent.at(-1);
  return recent.filter((entry) => entry === newest).length;
}

/** The tool of the newest answer that was called most in the run, these calls included. */
function busiestTool(answer: AIMessage, run: RunFacts, counted: boolean): { name: string; count: number } {
  const counts = new Map<string, number>();
  for (const { name } of callsOf(answer)) {
    const before = Object.hasOwn(run.toolCalls, name) ? (run.toolCalls[name] ?? 0) : 0;
    counts.set(name, counted ? before : (counts.get(name) ?? before) + 1);
  }
  const [name = "", count = 0] = [...counts].sort((a, b) => b[1] - a[1])[0] ?? [];
  return { name, count };
}

/**
 * Notices a model that goes round in circles: it is warned in the next request, and at the second limit its calls are
 * taken out, the run ends and says why. All counts come from the messages and the log.
 *
 * @example
 * createAgent({ model, tools, middleware: [loopDetectionMiddleware({ stopAt: 4 })] })
 */
export function loopDetectionMiddleware(options: LoopDetectionOptions = {}) {
  const { warnAt = 3, stopAt = 5, window = 20, warnPerTool = 30, stopPerTool = 50 } = options;
  const warning = (messages: readonly BaseMessage[], run: RunFacts): string | undefined => {
    const answer = lastAnswer(messages);
    if (!answer || callsOf(answer).length === 0) return undefined;
    const times = repeats(messages, window);
    if (times >= warnAt) {
      return `You made the same tool calls ${times} times, with the same arguments. The results will not change: use what you have, try another way, or answer.`;
    }
    const { name, count } = busiestTool(answer, run, true);
    if (count < warnPerTool) return undefined;
    return `You called ${name} ${count} times in this run. Come to an end: use what you have and answer.`;
  };
  return createMiddleware({
    name: "loop-detection",
    wrapModelCall(request, handler) {
      const text = warning(request.state.messages, request.runtime.run);
      if (text === undefined) return handler(request);
      const id = `loop-warning:${lastAnswer(request.state.messages)?.id ?? ""}`;
      const notice = hiddenMessage({ id, name: "loop_warning", text });
      return handler({ ...request, messages: [...request.messages, notice] });
    },
    afterModel(state, { run, runId }) {
      const answer = lastAnswer(state.messages);
      if (!answer || callsOf(answer).length === 0) return undefined;
      const times = repeats(state.messages, window);
      const { name, count } = busiestTool(answer, run, false);
      if (times < stopAt && count < stopPerTool) return undefined;
      const notice =
        times >= stopAt
          ? `Stopped: the same tool calls were made ${times} times.`
          : `Stopped: ${name} was called ${count} times in one run.`;
      return {
        events: [RunCapped({ runId, reason: "loop_capped" })],
        update: { messages: [trimToolCalls(answer, [], { notice, stopReason: "loop_capped" })] },
      };
    },
  });
}

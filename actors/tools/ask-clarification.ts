import type { Json } from "../../events/json.ts";
import { lazySchema } from "../../events/zod.ts";
import { interrupt } from "../interrupt.ts";
import { defineTool } from "./define-tool.ts";

export const askClarificationName = "ask_clarification";

const clarificationArguments = lazySchema((z) =>
  z.object({
    question: z.string().min(1).describe("The question, in the user's language"),
    clarification_type: z
      .enum(["missing_info", "ambiguous_requirement", "approach_choice", "risk_confirmation", "suggestion"])
      .default("missing_info")
      .describe("Why you ask"),
    context: z.string().optional().describe("What the user needs to know to answer"),
    options: z.array(z.string()).optional().describe("Answers to choose from"),
  }),
);

/** The text of an answer: a text, or the usual key of an object. */
function answerText(answer: Json): string {
  if (typeof answer === "string") return answer;
  if (typeof answer === "object" && answer !== null && !Array.isArray(answer)) {
    const { answer: text, response, text: plain, message } = answer as { readonly [key: string]: Json };
    const found = [text, response, plain, message].find((value) => typeof value === "string");
    if (typeof found === "string") return found;
  }
  return JSON.stringify(answer);
}

/**
 * The tool with which a model asks the user: the run stops with the question, and the answer is the tool's result.
 *
 * @example
 * createAgent({ model, tools: [askClarificationTool()] })
 */
export function askClarificationTool() {
  return defineTool({
    name: askClarificationName,
    description:
      "Asks the user a question and waits for the answer. Use it when something that you need is missing or unclear, " +
      "when there is a choice that only the user can make, or before something that cannot be undone. Ask one thing at a time.",
    schema: clarificationArguments(),
    idempotent: true,
    run: (args, runtime) => interrupt("question", { ...args, tool_call_id: runtime.callId } as Json),
    onAnswer: (answer) => answerText(answer),
  });
}

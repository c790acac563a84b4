import type { z } from "zod";
import { lazySchema } from "../../events/zod.ts";
import { ToolMessage } from "../langchain.ts";
import { askClarificationName, askClarificationTool } from "../tools/ask-clarification.ts";
import { createMiddleware } from "./define-middleware.ts";

const clarificationContext = lazySchema((z) =>
  z.object({
    /** True in runs where nobody is there to answer. */
    disable_clarification: z.boolean().optional(),
  }),
);

/**
 * The tool `ask_clarification`: a question stops the run until it is answered. In runs with
 * `context.disable_clarification` nobody is asked, and the model is told to go on.
 *
 * @example
 * createAgent({ model, middleware: [clarificationMiddleware()] })
 */
export function clarificationMiddleware() {
  return createMiddleware<Record<string, unknown>, z.infer<ReturnType<typeof clarificationContext>>>({
    name: "clarification",
    contextSchema: clarificationContext(),
    tools: [askClarificationTool()],
    wrapToolCall(request, handler) {
      const { id, name } = request.toolCall;
      if (name !== askClarificationName || !request.runtime.context.disable_clarification)
        return handler(request);
      return new ToolMessage({
        content:
          "Nobody can answer in this run. Go on with the most sensible assumption, and say in your answer what you assumed.",
        name,
        tool_call_id: id,
      });
    },
  });
}

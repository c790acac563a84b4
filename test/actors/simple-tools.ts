import { AIMessage } from "@langchain/core/messages";
import { z } from "zod";
import { defineTool } from "../../actors/tools/define-tool.ts";

/** A tool that adds. */
export const add = defineTool({
  name: "add",
  description: "Adds two numbers",
  schema: z.object({ a: z.number(), b: z.number() }),
  run: ({ a, b }) => String(a + b),
});

/** A model's answer that calls tools: `calls("add", { a: 1, b: 2 })`, or several as pairs. */
export function callsTools(
  ...calls: readonly (readonly [name: string, args: Record<string, unknown>, id?: string])[]
) {
  return new AIMessage({
    content: "",
    tool_calls: calls.map(([name, args, id], index) => ({
      name,
      args,
      id: id ?? `call-${name}-${index}`,
      type: "tool_call" as const,
    })),
  });
}

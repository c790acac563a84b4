import { toJsonSchema } from "../langchain.ts";
import type { AgentTool } from "./define-tool.ts";

export interface JsonSchema {
  readonly type?: string | readonly string[];
  readonly properties?: { readonly [name: string]: JsonSchema };
  readonly items?: JsonSchema;
  readonly anyOf?: readonly JsonSchema[];
  readonly oneOf?: readonly JsonSchema[];
  readonly enum?: readonly unknown[];
  readonly [key: string]: unknown;
}

/** The JSON Schema of a tool's arguments, as a model gets it. */
export function argumentsSchema(tool: AgentTool): JsonSchema {
  return toJsonSchema(tool.schema as Parameters<typeof toJsonSchema>[0]) as JsonSchema;
}

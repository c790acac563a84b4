import type { StructuredToolInterface } from "@langchain/core/tools";
import { canonicalJson } from "../../events/canonical-json.ts";
import type { Json } from "../../events/json.ts";
import { convertToOpenAITool, tool } from "../langchain.ts";
import { plainJson } from "../messages/plain-json.ts";
import type { AgentTool } from "../tools/define-tool.ts";
import type { CallTexts } from "./named-texts.ts";

const bindable = new WeakMap<AgentTool, AgentTool>();

function neverRuns(): string {
  throw new Error("This tool only tells the model what it may call; the agent runs it.");
}

/** A tool in the form that `bindTools` of every LangChain model takes. */
export function bindableTool(given: AgentTool): StructuredToolInterface {
  if (!("run" in given)) return given as StructuredToolInterface;
  const known = bindable.get(given);
  if (known) return known as StructuredToolInterface;
  const { name, description, schema } = given;
  const made = tool(neverRuns, { name, description, schema } as never) as unknown as StructuredToolInterface;
  bindable.set(given, made as AgentTool);
  return made;
}

const schemas = new WeakMap<AgentTool, Json>();

/** Name, description and parameters of a tool, as a model reads them. */
function schemaOf(given: AgentTool): Json {
  const known = schemas.get(given);
  if (known !== undefined) return known;
  const isRunnable = "run" in given || "invoke" in given;
  const schema = plainJson(isRunnable ? convertToOpenAITool(bindableTool(given) as never) : given);
  schemas.set(given, schema);
  return schema;
}

interface RecordedTools {
  readonly tools: readonly AgentTool[];
  readonly json: string;
}

// By the first tool: a middleware that filters tools makes a new list of the same ones for each call.
const lastRecorded = new WeakMap<AgentTool, RecordedTools>();

/**
 * Puts the schemas of the offered tools into the blob store, once, and gives their digest; null: no tools.
 */
export async function recordTools(tools: readonly AgentTool[], texts: CallTexts): Promise<string | null> {
  const [first] = tools;
  if (!first) return null;
  const before = lastRecorded.get(first);
  const same = before?.tools.length === tools.length && tools.every((one, at) => one === before.tools[at]);
  const json = same ? before.json : canonicalJson(tools.map(schemaOf));
  lastRecorded.set(first, { tools, json });
  return texts.put(json, "application/json");
}

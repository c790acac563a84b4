/** A tool that was bound to the model: its name, and the names of its arguments when its schema tells them. */
export interface BoundTool {
  readonly name: string;
  readonly argumentNames: readonly string[] | undefined;
}

function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === "object" && value !== null;
}

function argumentNames(schema: unknown): readonly string[] | undefined {
  if (!isObject(schema)) return undefined;
  // A zod object tells its keys in `shape`, a JSON schema in `properties`.
  const keys = [schema.shape, schema.properties].find(isObject);
  return keys && Object.keys(keys);
}

/** Reads tools in the forms that LangChain binds: tools with a schema, and the formats of OpenAI and Anthropic. */
export function readBoundTools(tools: readonly unknown[]): BoundTool[] {
  return tools.filter(isObject).flatMap((tool) => {
    const inner = isObject(tool.function) ? tool.function : tool;
    const schema = inner.schema ?? inner.parameters ?? inner.input_schema;
    return typeof inner.name === "string" ? [{ name: inner.name, argumentNames: argumentNames(schema) }] : [];
  });
}

/** Arguments that a tool takes: unknown ones are left out, and a `description` is added where the tool asks for one. */
export function fitArguments(
  args: Readonly<Record<string, unknown>>,
  tool: BoundTool | undefined,
  description: string,
): Record<string, unknown> {
  const known = tool?.argumentNames;
  if (!known) return { ...args };
  const described = known.includes("description") ? { description, ...args } : args;
  return Object.fromEntries(Object.entries(described).filter(([name]) => known.includes(name)));
}

import { z } from "zod";
import { fieldsOf, isSchema } from "./langgraph-values.ts";

/** How an answer in a given form is asked for. */
export interface ResponseStrategy {
  /** `tool`: as the arguments of a tool that exists for it. `provider`: the provider holds the model to the schema. */
  readonly kind: "tool" | "provider";
  /** Name of the tool, or of the schema. */
  readonly name: string;
  readonly schema: z.ZodType;
  /** Times that the model is asked again after an answer that does not fit. */
  readonly maxRetries: number;
}

export interface ResponseStrategyOptions {
  /** Default: the schema's title, or `structured_response`. */
  readonly name?: string;
  /** Times that the model is asked again after an answer that does not fit. Default 2. */
  readonly maxRetries?: number;
}

/** `responseFormat` is neither a schema nor a strategy. */
export class ResponseFormatError extends Error {
  override readonly name = "ResponseFormatError";
  constructor() {
    super(
      "responseFormat is neither a zod object schema nor a strategy. Give z.object({ … }), toolStrategy(schema) or providerStrategy(schema).",
    );
  }
}

function strategy(kind: ResponseStrategy["kind"], schema: z.ZodType, options: ResponseStrategyOptions) {
  const { name = nameOf(schema), maxRetries = 2 } = options;
  return { kind, name, schema, maxRetries };
}

/**
 * Asks for a structured response through a tool call: works with every model that calls tools.
 *
 * @example
 * createAgent({ model, responseFormat: toolStrategy(z.object({ city: z.string() })) })
 */
export function toolStrategy(schema: z.ZodType, options: ResponseStrategyOptions = {}): ResponseStrategy {
  return strategy("tool", schema, options);
}

/**
 * Asks for a structured response through the provider's own JSON mode.
 *
 * @example
 * createAgent({ model, responseFormat: providerStrategy(z.object({ city: z.string() })) })
 */
export function providerStrategy(schema: z.ZodType, options: ResponseStrategyOptions = {}): ResponseStrategy {
  return strategy("provider", schema, options);
}

/** JSON Schema of what is asked for. */
export function jsonSchemaOf({ schema }: ResponseStrategy): z.core.JSONSchema.BaseSchema {
  return z.toJSONSchema(schema, { unrepresentable: "any" });
}

function nameOf(schema: z.ZodType): string {
  const title = typeof schema.meta === "function" ? schema.meta()?.title : undefined;
  const name = typeof title === "string" ? title.replace(/[^A-Za-z0-9_-]+/g, "_").slice(0, 64) : "";
  return name || "structured_response";
}

/**
 * The strategy behind a `responseFormat`. A bare schema goes through a tool, unless the model is known to hold to
 * schemas by itself. LangChain's own strategies are recognised by their shape.
 *
 * @param profile what LangChain knows of the model
 * @throws {ResponseFormatError}
 */
export function strategyFor(
  format: unknown,
  profile?: { readonly structuredOutput?: boolean | undefined },
): ResponseStrategy {
  const [first] = Array.isArray(format) ? format : [format];
  if (isSchema(first) && fieldsOf(first)) {
    const schema = first as z.ZodType;
    return profile?.structuredOutput ? providerStrategy(schema) : toolStrategy(schema);
  }
  if (typeof first !== "object" || first === null) throw new ResponseFormatError();
  const { kind, schema, tool } = first as Record<string, unknown>;
  if (!isSchema(schema) || !fieldsOf(schema)) throw new ResponseFormatError();
  if (kind === "tool" || kind === "provider") return first as ResponseStrategy;
  // LangChain's ToolStrategy has the OpenAI form of its tool beside the schema, its ProviderStrategy has not.
  return tool === undefined ? providerStrategy(schema as z.ZodType) : toolStrategy(schema as z.ZodType);
}

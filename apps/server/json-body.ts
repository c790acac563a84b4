import type { Context } from "hono";
import { HTTPException } from "hono/http-exception";
import type { z } from "zod";

/** The body of a request is not what the route takes. */
export class InvalidBodyError extends Error {
  override readonly name = "InvalidBodyError";
  constructor(
    readonly issues: readonly { readonly path: readonly PropertyKey[]; readonly message: string }[],
  ) {
    const [first] = issues;
    super(
      `The request is not valid at "${first?.path.map(String).join(".") ?? ""}": ${first?.message ?? ""}`,
    );
  }
}

/** True when brackets nest deeper than allowed. Looked at before parsing, which recurses. */
function isTooDeep(text: string, maxDepth: number): boolean {
  let depth = 0;
  let quoted = false;
  for (let at = 0; at < text.length; at++) {
    const char = text[at];
    if (quoted && char === "\\") at += 1;
    else if (char === '"') quoted = !quoted;
    else if (!quoted && (char === "{" || char === "[")) depth += 1;
    else if (!quoted && (char === "}" || char === "]")) depth -= 1;
    if (depth > maxDepth) return true;
  }
  return false;
}

/** Checks data against a schema. @throws {InvalidBodyError} */
export function checked<Schema extends z.ZodType>(schema: Schema, value: unknown): z.output<Schema> {
  const result = schema.safeParse(value);
  if (result.success) return result.data;
  throw new InvalidBodyError(result.error.issues.map(({ path, message }) => ({ path, message })));
}

/**
 * The JSON body of a request, checked.
 *
 * @param options.maxDepth deepest nesting
 * @param options.optional an empty body stands for `{}`
 * @throws {InvalidBodyError} @throws {HTTPException} 400 no JSON, 415 another content type
 */
export async function jsonBody<Schema extends z.ZodType>(
  c: Context,
  schema: Schema,
  options: { readonly maxDepth: number; readonly optional?: boolean },
): Promise<z.output<Schema>> {
  const text = await c.req.text();
  if (text === "" && options.optional) return checked(schema, {});
  const type = c.req.header("content-type") ?? "";
  // Web pages of other origins can send other types without being asked first.
  if (!/^application\/(?:[\w.+-]+\+)?json\b/i.test(type)) {
    throw new HTTPException(415, { message: "Send the body as application/json." });
  }
  if (isTooDeep(text, options.maxDepth)) {
    throw new HTTPException(400, { message: "The JSON of the request is nested too deep." });
  }
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch {
    throw new HTTPException(400, { message: "The body of the request is no JSON." });
  }
  return checked(schema, value);
}

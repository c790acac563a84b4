import { HTTPException } from "hono/http-exception";

/** True for what a client leaves out, or sends as LangGraph's own default. */
function asksForNothing(value: unknown): boolean {
  return !value || (Array.isArray(value) && value.length === 0);
}

/**
 * Refuses what this server does not do, rather than doing something else or nothing.
 *
 * @param advice by key of the body: what to do instead
 * @throws {HTTPException} 422
 */
export function refuseUnoffered<Key extends string>(
  body: { readonly [key in NoInfer<Key>]?: unknown },
  advice: Readonly<Record<Key, string>>,
): void {
  for (const key of Object.keys(advice) as Key[]) {
    if (asksForNothing(body[key])) continue;
    throw new HTTPException(422, { message: `${key} is not offered: ${advice[key]}` });
  }
}

import serialize from "canonicalize";

/** A value has no JSON form: a function, a cycle, a number that is not finite, or half a surrogate pair. */
export class NotJsonError extends Error {
  override readonly name = "NotJsonError";
}

/**
 * The one JSON text of a value (RFC 8785): keys sorted, no white space.
 *
 * @throws {NotJsonError}
 */
export function canonicalJson(value: unknown): string {
  let text: string | undefined;
  try {
    text = serialize(value);
  } catch (cause) {
    throw new NotJsonError(`The value has no canonical JSON form: ${(cause as Error).message}`, { cause });
  }
  if (text === undefined) throw new NotJsonError(`A value of type ${typeof value} has no JSON form.`);
  return text;
}

/// <reference lib="es2024.string" />

/** A value has no JSON form: a function, a cycle, a number that is not finite, or half a surrogate pair. */
export class NotJsonError extends Error {
  override readonly name = "NotJsonError";
}

const maxRememberedKeys = 2000;
const quotedKeys = new Map<string, string>();

/** The keys of events repeat for ever: quoting them once saves a tenth of the time. The colon comes along. */
function quoteKey(key: string): string {
  let quoted = quotedKeys.get(key);
  if (quoted === undefined) {
    quoted = `${quote(key)}:`;
    if (quotedKeys.size < maxRememberedKeys) quotedKeys.set(key, quoted);
  }
  return quoted;
}

function quote(text: string): string {
  if (!text.isWellFormed()) throw new NotJsonError("A text holds half a surrogate pair.");
  return JSON.stringify(text);
}

function sortedKeys(value: object): string[] {
  const keys = Object.keys(value);
  for (let index = 1; index < keys.length; index++) {
    if ((keys[index - 1] as string) > (keys[index] as string)) return keys.sort();
  }
  return keys;
}

function writeArray(values: readonly unknown[]): string {
  let text = "[";
  for (let index = 0; index < values.length; index++) {
    if (index > 0) text += ",";
    text += values[index] === undefined ? "null" : write(values[index]);
  }
  return `${text}]`;
}

function writeObject(value: Readonly<Record<string, unknown>>): string {
  const keys = sortedKeys(value);
  let text = "";
  for (let index = 0; index < keys.length; index++) {
    const key = keys[index] as string;
    const member = value[key];
    if (member !== undefined) text += (text === "" ? "{" : ",") + quoteKey(key) + write(member);
  }
  return text === "" ? "{}" : `${text}}`;
}

function writeInstance(value: object): string {
  const { toJSON } = value as { toJSON?: unknown };
  return typeof toJSON === "function" ? write(toJSON.call(value)) : writeObject({ ...value });
}

function write(value: unknown): string {
  switch (typeof value) {
    case "string":
      return quote(value);
    case "number":
      if (!Number.isFinite(value)) throw new NotJsonError(`The number ${value} is not finite.`);
      return `${value}`;
    case "boolean":
      return value ? "true" : "false";
    case "object":
      if (value === null) return "null";
      if (Array.isArray(value)) return writeArray(value);
      if (Object.getPrototypeOf(value) !== Object.prototype) return writeInstance(value);
      return writeObject(value as Record<string, unknown>);
    default:
      throw new NotJsonError(`A value of type ${typeof value} has no JSON form.`);
  }
}

/**
 * The one JSON text of a value (RFC 8785): keys sorted, no white space. Every event passes through it on its way into
 * the log, so it is written for speed; the tests compare it with the reference implementation.
 *
 * @throws {NotJsonError}
 * @example
 * canonicalJson({ b: 1, a: "x" }); // '{"a":"x","b":1}'
 */
export function canonicalJson(value: unknown): string {
  try {
    return write(value);
  } catch (cause) {
    if (cause instanceof NotJsonError) throw cause;
    const reason = cause instanceof RangeError ? "it contains itself, or is nested too deep" : String(cause);
    throw new NotJsonError(`The value has no canonical JSON form: ${reason}.`, { cause });
  }
}

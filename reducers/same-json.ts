/**
 * True when two JSON values have the same content. The order of an object's keys does not count.
 *
 * @example
 * sameJson({ a: [1] }, { a: [1] }); // true
 */
export function sameJson(a: unknown, b: unknown): boolean {
  if (a === b) return true;
  if (typeof a !== "object" || typeof b !== "object" || a === null || b === null) return false;
  if (Array.isArray(a) || Array.isArray(b)) {
    if (!Array.isArray(a) || !Array.isArray(b) || a.length !== b.length) return false;
    return a.every((item, index) => sameJson(item, b[index]));
  }
  const left = a as Record<string, unknown>;
  const right = b as Record<string, unknown>;
  const keys = Object.keys(left);
  if (keys.length !== Object.keys(right).length) return false;
  return keys.every((key) => Object.hasOwn(right, key) && sameJson(left[key], right[key]));
}

/** `next`, or `value` itself when both have the same content: so that no-ops keep the reference. */
export function keepWhenSame<Value>(value: Value, next: Value): Value {
  return sameJson(value, next) ? value : next;
}

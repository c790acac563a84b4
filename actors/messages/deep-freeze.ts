const frozen = new WeakSet<object>();

/**
 * Freezes plain data all the way down, in place, and gives it back. What was frozen before is not walked again.
 *
 * @example
 * deepFreeze({ todos: [{ content: "read" }] }).todos.push(…); // TypeError
 */
export function deepFreeze<Value>(value: Value): Value {
  if (typeof value !== "object" || value === null || frozen.has(value)) return value;
  // Typed arrays cannot be frozen, and class instances are their owner's.
  if (ArrayBuffer.isView(value) || (!Array.isArray(value) && !isPlain(value))) return value;
  frozen.add(value);
  Object.freeze(value);
  for (const key of Object.keys(value)) deepFreeze((value as Record<string, unknown>)[key]);
  return value;
}

function isPlain(value: object): boolean {
  const prototype: unknown = Object.getPrototypeOf(value);
  return prototype === Object.prototype || prototype === null;
}

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
  Object.freeze(value);
  let isLeaf = true;
  for (const key of Object.keys(value)) {
    const member: unknown = (value as Record<string, unknown>)[key];
    if (typeof member !== "object" || member === null) continue;
    isLeaf = false;
    deepFreeze(member);
  }
  // A leaf is looked at faster than looked up, and most objects are leaves.
  if (!isLeaf) frozen.add(value);
  return value;
}

function isPlain(value: object): boolean {
  const prototype: unknown = Object.getPrototypeOf(value);
  return prototype === Object.prototype || prototype === null;
}

import type { Json } from "../events/json.ts";

/**
 * The same JSON value, frozen all the way down: what is frozen already stays the same object, the rest is copied, so
 * that nobody who kept a reference can change an event or a state later, and nobody's own object is frozen.
 */
export function frozenJson<Value extends Json>(value: Value): Value {
  return freeze(value) as Value;
}

function freeze(value: Json): Json {
  if (typeof value !== "object" || value === null) return value;
  if (Array.isArray(value)) {
    const copy = value.map((member: Json) => freeze(member));
    const same = Object.isFrozen(value) && copy.every((member, index) => member === value[index]);
    return same ? value : Object.freeze(copy);
  }
  let same = Object.isFrozen(value);
  const entries = Object.entries(value).map(([key, member]) => {
    const frozen = freeze(member);
    if (frozen !== member) same = false;
    return [key, frozen] as const;
  });
  return same ? value : Object.freeze(Object.fromEntries(entries));
}

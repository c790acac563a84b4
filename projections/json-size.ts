/** About the length of a value's JSON text, without making it. */
export function jsonSize(value: unknown): number {
  if (typeof value === "string") return value.length + 2;
  if (typeof value !== "object" || value === null) return 5;
  let size = 2;
  if (Array.isArray(value)) {
    for (const item of value) size += jsonSize(item) + 1;
    return size;
  }
  for (const key in value) size += key.length + 4 + jsonSize((value as Record<string, unknown>)[key]);
  return size;
}

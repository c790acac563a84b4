/** What a JSON value is, without what it holds when that is long. */
export interface Outline {
  readonly kind: "object" | "array" | "string" | "number" | "boolean" | "null";
  /** Members, items or characters. */
  readonly size: number;
  /** The value itself, when its JSON is short. */
  readonly value?: unknown;
  /** The beginning of a text that is long. */
  readonly text?: string;
  /** The beginning of what a long list or object holds, as JSON with its texts cut. */
  readonly glimpse?: string;
  /** A page of what it holds, when it was asked for. */
  readonly children?: readonly (Outline & { readonly key: string })[];
  /** Place of the first child that is not in the page; absent: there are no more. */
  readonly next?: number;
}

/** Which part of a value is shown. */
export interface OutlinePage {
  /** First child or character. */
  readonly offset: number;
  /** Most children; texts give 200 characters for each. */
  readonly limit: number;
}

/** About this many characters of JSON travel with their parent. */
const shortJson = 2_000;
const shortText = 600;
const textPerChild = 200;
/** Children of a long child that travel with it, so that a list can be looked into without asking again. */
const firstGrandchildren = 20;

/** True when the JSON of a value is not longer than a budget. Looks no further than that. */
function isShort(value: unknown): boolean {
  let left = shortJson;
  const spend = (one: unknown): void => {
    if (left < 0) return;
    if (typeof one === "string") left -= one.length + 2;
    else if (typeof one !== "object" || one === null) left -= 5;
    else {
      for (const [key, child] of Object.entries(one)) {
        left -= key.length + 4;
        spend(child);
        if (left < 0) return;
      }
    }
  };
  spend(value);
  return left >= 0;
}

function kindOf(value: unknown): Outline["kind"] {
  if (value === null || value === undefined) return "null";
  if (Array.isArray(value)) return "array";
  const kind = typeof value;
  return kind === "object" || kind === "string" || kind === "number" || kind === "boolean" ? kind : "null";
}

/** What a value is, and the value itself when it is short. */
export function outlineOf(value: unknown): Outline {
  const kind = kindOf(value);
  if (kind === "string") {
    const text = value as string;
    const size = text.length;
    return size <= shortText ? { kind, size, value: text } : { kind, size, text: text.slice(0, shortText) };
  }
  if (kind !== "object" && kind !== "array") return { kind, size: 1, value: value ?? null };
  const size = Array.isArray(value) ? value.length : Object.keys(value as object).length;
  return isShort(value) ? { kind, size, value } : { kind, size, glimpse: glimpseOf(value as object) };
}

const glimpseLength = 200;
const glimpseText = 60;

function glimpseOf(value: object): string {
  const parts: string[] = [];
  let length = 0;
  for (const [key, member] of Object.entries(value)) {
    const text =
      typeof member === "string"
        ? JSON.stringify(member.length > glimpseText ? `${member.slice(0, glimpseText)}…` : member)
        : typeof member !== "object" || member === null
          ? String(member)
          : Array.isArray(member)
            ? "[…]"
            : "{…}";
    parts.push(Array.isArray(value) ? text : `${key}: ${text}`);
    length += text.length + key.length;
    if (length > glimpseLength) break;
  }
  return parts.join(", ");
}

/**
 * What stands at a JSON Pointer (RFC 6901), with a page of what it holds; undefined: nothing does.
 *
 * @example
 * outlineAt({ messages: [{ id: "m1" }] }, "/messages/0", { offset: 0, limit: 50 });
 */
export function outlineAt(root: unknown, pointer: string, page: OutlinePage): Outline | undefined {
  let value = root;
  for (const part of pointer === "" ? [] : pointer.slice(1).split("/")) {
    const key = part.replaceAll("~1", "/").replaceAll("~0", "~");
    if (typeof value !== "object" || value === null || !Object.hasOwn(value, key)) return undefined;
    value = (value as Record<string, unknown>)[key];
  }
  return outlinePage(value, page, firstGrandchildren);
}

/** A value with a page of its children, and of each long child the first `ahead` children. */
function outlinePage(value: unknown, { offset, limit }: OutlinePage, ahead: number): Outline {
  if (typeof value === "string") {
    const end = offset + limit * textPerChild;
    const more = end < value.length ? { next: end } : {};
    return { kind: "string", size: value.length, text: value.slice(offset, end), ...more };
  }
  if (typeof value !== "object" || value === null) return outlineOf(value);
  const keys = Array.isArray(value) ? undefined : Object.keys(value);
  const size = keys?.length ?? (value as readonly unknown[]).length;
  const end = Math.min(size, offset + limit);
  const children: (Outline & { key: string })[] = [];
  for (let at = offset; at < end; at++) {
    const key = keys?.[at] ?? String(at);
    const child = (value as Record<string, unknown>)[key];
    const short = outlineOf(child);
    const isLong = short.value === undefined && (short.kind === "array" || short.kind === "object");
    const shown = isLong && ahead > 0 ? outlinePage(child, { offset: 0, limit: ahead }, 0) : short;
    children.push({ key, ...shown });
  }
  const whole = offset === 0 && isShort(value) ? { value } : {};
  return { kind: kindOf(value), size, ...whole, children, ...(end < size && { next: end }) };
}

/** A piece of a text: as it is, or a character that would not be seen, named. */
export type TextPiece =
  | { readonly kind: "plain"; readonly text: string }
  | { readonly kind: "hidden"; readonly text: string; readonly label: string; readonly name: string }
  | { readonly kind: "link"; readonly text: string; readonly href: string };

const names: Readonly<Record<string, string>> = {
  "\u001b": "escape",
  "\u200b": "zero width space",
  "\u200e": "left-to-right mark",
  "\u200f": "right-to-left mark",
  "\u202a": "left-to-right embedding",
  "\u202b": "right-to-left embedding",
  "\u202c": "pop directional formatting",
  "\u202d": "left-to-right override",
  "\u202e": "right-to-left override",
  "\u2066": "left-to-right isolate",
  "\u2067": "right-to-left isolate",
  "\u2068": "first strong isolate",
  "\u2069": "pop directional isolate",
  "\u00ad": "soft hyphen",
  "\ufeff": "byte order mark",
};

// A zero width joiner (200d) and variation selectors belong to emoji and scripts; they stay.
const ansi = "\\u001b(?:\\[[0-?]*[ -/]*[@-~]|\\][^\\u0007\\u001b]*(?:\\u0007|\\u001b\\\\)|[@-Z\\\\-_])";
const control = "[\\u0000-\\u0008\\u000b\\u000c\\u000e-\\u001f\\u007f-\\u009f]";
const unseen =
  "[\\u00ad\\u061c\\u180e\\u200b\\u200e\\u200f\\u2028\\u2029\\u202a-\\u202e\\u2060-\\u206f\\ufeff\\ufff9-\\ufffb\\u{e0000}-\\u{e007f}]";
const url =
  "https?://[^\\s<>\"'`\\u0000-\\u001f\\u007f-\\u009f\\u200b-\\u200f\\u2028-\\u202e\\u2060-\\u206f]+";

const hidden = new RegExp(`${ansi}|\\r(?!\\n)|${control}|${unseen}`, "gu");
const hiddenOrLink = new RegExp(`${hidden.source}|${url}`, "gu");

function hiddenPiece(text: string): TextPiece {
  const code = text.codePointAt(0) ?? 0;
  const number = code.toString(16).toUpperCase().padStart(4, "0");
  if (text.length > 2 || (text.length === 2 && code === 0x1b)) {
    // A title that a sequence sets may hold what is hidden itself.
    const label = `ESC${text.slice(1).replace(/[\p{Cc}\p{Cf}]/gu, "·")}`;
    return { kind: "hidden", text, label, name: "terminal control sequence" };
  }
  const char = String.fromCodePoint(code);
  return { kind: "hidden", text, label: `U+${number}`, name: names[char] ?? "control character" };
}

/** A `http` or `https` address, or undefined. Nothing else may become a link. */
export function safeHref(text: string): string | undefined {
  if (!/^https?:\/\//i.test(text)) return undefined;
  try {
    const { protocol, href } = new URL(text);
    return protocol === "http:" || protocol === "https:" ? href : undefined;
  } catch {
    return undefined;
  }
}

/** Punctuation after an address belongs to the sentence. */
function linkPieces(text: string): TextPiece[] {
  const address = text.replace(/[),.;:!?\]}，。；：！？）】」』]+$/u, "");
  const href = safeHref(address);
  if (href === undefined) return [{ kind: "plain", text }];
  const rest = text.slice(address.length);
  const link: TextPiece = { kind: "link", text: address, href };
  return rest === "" ? [link] : [link, { kind: "plain", text: rest }];
}

/**
 * A text in pieces, with everything named that would act on a terminal or on the direction of the text, or not be seen.
 *
 * @param options.links also finds `http` and `https` addresses
 * @example
 * textPieces("a\u202eb"); // plain "a", hidden "U+202E", plain "b"
 */
export function textPieces(text: string, options: { readonly links?: boolean } = {}): readonly TextPiece[] {
  const pieces: TextPiece[] = [];
  let end = 0;
  for (const match of text.matchAll(options.links ? hiddenOrLink : hidden)) {
    if (match.index > end) pieces.push({ kind: "plain", text: text.slice(end, match.index) });
    const [found] = match;
    if (/^https?:/i.test(found)) pieces.push(...linkPieces(found));
    else pieces.push(hiddenPiece(found));
    end = match.index + found.length;
  }
  if (end < text.length) pieces.push({ kind: "plain", text: text.slice(end) });
  return pieces;
}

/** The same as one text, for places that take no elements: names, titles, trees. */
export function visibleText(text: string): string {
  return text.replace(hidden, (found) => {
    const piece = hiddenPiece(found);
    return piece.kind === "hidden" ? `⟨${piece.label}⟩` : found;
  });
}

/** A JSON value with `visibleText` for every text and key in it. */
export function visibleJson(value: unknown): unknown {
  if (typeof value === "string") return visibleText(value);
  if (Array.isArray(value)) return value.map(visibleJson);
  if (typeof value !== "object" || value === null) return value;
  const entries = Object.entries(value).map(([key, member]) => [visibleText(key), visibleJson(member)]);
  return Object.fromEntries(entries);
}

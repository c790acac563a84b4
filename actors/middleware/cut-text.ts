/** Beginning and end of a text that are kept, in characters. */
export interface CutLimits {
  /** Characters of the beginning. */
  readonly head: number;
  /** Characters of the end. */
  readonly tail: number;
}

/** No half of a surrogate pair at an edge. */
function wholeStart(text: string): string {
  return text.replace(/[\ud800-\udbff]$/, "");
}

function wholeEnd(text: string): string {
  return text.replace(/^[\udc00-\udfff]/, "");
}

/** The first `limit` characters, back to the end of a line if one ends there. */
export function headOf(text: string, limit: number): string {
  if (text.length <= limit) return text;
  const start = text.slice(0, Math.max(0, limit));
  const edge = start.lastIndexOf("\n");
  return edge > 0 ? start.slice(0, edge) : wholeStart(start);
}

/** The last `limit` characters, forward to the beginning of a line if one begins there. */
export function tailOf(text: string, limit: number): string {
  if (limit <= 0) return "";
  if (text.length <= limit) return text;
  const end = text.slice(-limit);
  const edge = end.indexOf("\n");
  return edge >= 0 && edge < end.length - 1 ? end.slice(edge + 1) : wholeEnd(end);
}

/**
 * Beginning and end of a text with a note between them. The result, note included, is never longer than `maxLength`.
 *
 * @example
 * cutMiddle("long …", { head: 8_000, tail: 3_000 }, 30_000);
 */
export function cutMiddle(text: string, limits: CutLimits, maxLength: number): string {
  if (text.length <= maxLength) return text;
  const note = (left: number) => `\n[${left} characters are left out here]\n`;
  const room = maxLength - note(text.length).length;
  if (room <= 0) return wholeStart(text.slice(0, maxLength));
  const head = headOf(text, Math.min(limits.head, room));
  const tail = tailOf(text, Math.min(limits.tail, room - head.length));
  return `${head}${note(text.length - head.length - tail.length)}${tail}`;
}

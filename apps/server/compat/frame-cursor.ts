/** The place of a frame in the stream of a run. */
export interface FrameCursor {
  /** Versions since `RunStarted`. */
  readonly offset: number;
  /** Which of the frames at that version. */
  readonly part: number;
  /** Characters of the answer that were streamed up to this token. */
  readonly chars?: number;
}

/** The id of a frame: `<versions since the run's start>-<part>`, for tokens with the characters so far. */
export function formatCursor({ offset, part, chars }: FrameCursor): string {
  return chars === undefined ? `${offset}-${part}` : `${offset}-${part}-${chars}`;
}

/**
 * Reads a `Last-Event-ID`. `undefined`: from the beginning (no header, or `-1`); `"invalid"`: no id of ours.
 *
 * @example
 * parseCursor("4-101-12"); // { offset: 4, part: 101, chars: 12 }
 */
export function parseCursor(id: string | undefined): FrameCursor | "invalid" | undefined {
  if (id === undefined || id === "" || id === "-1") return undefined;
  const match = /^(\d{1,9})-(\d{1,9})(?:-(\d{1,9}))?$/.exec(id);
  if (!match) return "invalid";
  const [, offset, part, chars] = match;
  return { offset: Number(offset), part: Number(part), ...(chars !== undefined && { chars: Number(chars) }) };
}

/** True when a frame comes after a cursor. */
export function isBehind(frame: FrameCursor, cursor: FrameCursor): boolean {
  return frame.offset > cursor.offset || (frame.offset === cursor.offset && frame.part > cursor.part);
}

/** The place of a frame in the stream of a run. */
export interface FrameCursor {
  /** Versions since `RunStarted`. */
  readonly offset: number;
  /** Which of the frames at that version. */
  readonly part: number;
  /** Characters of the answer that were streamed up to this token. */
  readonly chars?: number;
  /** For frames of sub-agents, which come between those of the run: the event in the log. */
  readonly child?: { readonly position: string; readonly part: number };
}

/**
 * The id of a frame: `<versions since the run's start>-<part>`, for tokens with the characters so far. Frames of
 * sub-agents have the id of the frame before them and a place of their own: `4-11~<position>.<part>`.
 */
export function formatCursor({ offset, part, chars, child }: FrameCursor): string {
  const own = chars === undefined ? `${offset}-${part}` : `${offset}-${part}-${chars}`;
  return child ? `${own}~${child.position}.${child.part}` : own;
}

/**
 * Reads a `Last-Event-ID`. `undefined`: from the beginning (no header, or `-1`); `"invalid"`: no id of ours.
 *
 * @example
 * parseCursor("4-101-12"); // { offset: 4, part: 101, chars: 12 }
 */
export function parseCursor(id: string | undefined): FrameCursor | "invalid" | undefined {
  if (id === undefined || id === "" || id === "-1") return undefined;
  const match = /^(\d{1,9})-(\d{1,9})(?:-(\d{1,9}))?(?:~([\w:-]{1,100})\.(\d{1,9}))?$/.exec(id);
  if (!match) return "invalid";
  const [, offset, part, chars, position, childPart] = match;
  return {
    offset: Number(offset),
    part: Number(part),
    ...(chars !== undefined && { chars: Number(chars) }),
    ...(position !== undefined && { child: { position, part: Number(childPart) } }),
  };
}

/** True when a frame of the run itself comes after a cursor. */
export function isBehind(frame: FrameCursor, cursor: FrameCursor): boolean {
  return frame.offset > cursor.offset || (frame.offset === cursor.offset && frame.part > cursor.part);
}

/**
 * True when a frame of a sub-agent comes after a cursor.
 *
 * @param position of the run's event at the cursor's offset
 */
export function isChildBehind(
  frame: NonNullable<FrameCursor["child"]>,
  cursor: FrameCursor,
  position: string,
): boolean {
  if (!cursor.child) return frame.position > position;
  const { position: seen, part } = cursor.child;
  return frame.position > seen || (frame.position === seen && frame.part > part);
}

/** A text is no position of this log. */
export class InvalidPositionError extends Error {
  override readonly name = "InvalidPositionError";
  constructor(readonly position: string) {
    super(
      `"${position.slice(0, 80)}" is no position of this log. Pass a position that this log gave, or leave it out to start at the beginning.`,
    );
  }
}

/** Digits of the largest safe integer. */
const digits = 16;
const form = /^\d{16}$/;

/** Position of the n-th place of a log, from 1; 0 stands before all events. */
export function toPosition(ordinal: number): string {
  return String(ordinal).padStart(digits, "0");
}

/** @throws {InvalidPositionError} */
export function fromPosition(position: string): number {
  if (!form.test(position)) throw new InvalidPositionError(position);
  return Number(position);
}

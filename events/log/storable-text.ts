/// <reference lib="es2024.string" />

/** A name or an id holds characters that not every store can keep. */
export class InvalidTextError extends Error {
  override readonly name = "InvalidTextError";
  constructor(
    readonly field: string,
    readonly value: string,
  ) {
    super(
      `${field} ${JSON.stringify(value.slice(0, 80))} holds a NUL character or half a surrogate pair. Nothing was written; choose another.`,
    );
  }
}

/** @throws {InvalidTextError} */
export function checkText(field: string, value: string): void {
  if (value.includes("\u0000") || !value.isWellFormed()) throw new InvalidTextError(field, value);
}

/** A text is no JSONPath. */
export class InvalidPathError extends Error {
  override readonly name = "InvalidPathError";
  constructor(
    readonly path: string,
    cause: unknown,
  ) {
    super(
      `"${path}" is no JSONPath: ${cause instanceof Error ? cause.message : String(cause)}. Write a field like "title" or a path like "$.messages[-1].content".`,
      { cause },
    );
  }
}

/** What a command shows cannot be written. */
export class OutputError extends Error {
  override readonly name = "OutputError";
  constructor(what: string, options: ErrorOptions) {
    super(`${what} What was there before is kept. Free some space, or write elsewhere.`, options);
  }
}

/** The command line asks for something that cannot be. */
export class UsageError extends Error {
  override readonly name = "UsageError";
}

/** A file of the command line is not there, or is none. */
export class FileNotFoundError extends Error {
  override readonly name = "FileNotFoundError";
  constructor(readonly path: string) {
    super(
      `There is no file "${path}". The path is taken from the folder in which the command runs. Check the path.`,
    );
  }
}

import { readFileSync } from "node:fs";
import { StoreUrlError } from "../store-url-error.ts";

/** @param server whose URL names the file, like `PostgreSQL` @throws {StoreUrlError} the file cannot be read */
export function checkNamedFile(server: string, parameter: string, path: string): void {
  try {
    readFileSync(path);
  } catch (cause) {
    const { code } = cause as NodeJS.ErrnoException;
    throw new StoreUrlError(
      `The file that ${parameter} of the ${server} URL names cannot be read (${code}): ${path}. Check the path.`,
      { cause },
    );
  }
}

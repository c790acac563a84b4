import { statSync } from "node:fs";

/** A folder may be called as a thread is. */
export function isFile(path: string): boolean {
  return statSync(path, { throwIfNoEntry: false })?.isFile() ?? false;
}

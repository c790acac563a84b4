import { readFile } from "node:fs/promises";
import { text } from "node:stream/consumers";
import { FileNotFoundError } from "./usage-error.ts";

/** Text of a file; `-` is stdin. @throws {FileNotFoundError} */
export async function readInput(path: string): Promise<string> {
  if (path === "-") return text(process.stdin);
  try {
    return await readFile(path, "utf8");
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    if (code === "ENOENT" || code === "EISDIR") throw new FileNotFoundError(path);
    throw error;
  }
}

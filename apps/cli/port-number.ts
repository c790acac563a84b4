import { InvalidArgumentError } from "@commander-js/extra-typings";

/** A port as an option takes it. @throws {InvalidArgumentError} */
export function portNumber(text: string): number {
  const port = Number(text);
  if (/^\d{1,5}$/.test(text) && port <= 65_535) return port;
  throw new InvalidArgumentError("It is no port from 0 to 65535.");
}

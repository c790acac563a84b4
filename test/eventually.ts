import { expect } from "vitest";

/** Looks again and again, as long as a busy machine may take. */
export function eventually<Value>(look: () => Value | Promise<Value>) {
  return expect.poll(look, { timeout: 20_000, interval: 20 });
}

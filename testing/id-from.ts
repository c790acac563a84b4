import { sha256 } from "../events/hash-chain.ts";

/** An id in the form of a UUIDv7 that follows from a text alone, so that what is generated twice is the same text. */
export function idFrom(text: string): string {
  const digits = sha256(text);
  return `01900000-0000-7${digits.slice(0, 3)}-8${digits.slice(3, 6)}-${digits.slice(6, 18)}`;
}

import { InvalidArgumentError } from "@commander-js/extra-typings";

/** Reads the value of an option that is a whole number from 1. */
export function wholeNumber(text: string): number {
  const value = Number(text);
  if (!/^\d+$/.test(text) || value < 1) throw new InvalidArgumentError("It is no whole number from 1.");
  return value;
}

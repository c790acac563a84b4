import { NotJsonError } from "../events/canonical-json.ts";
import type { ErrorData } from "../events/run.ts";
import { storableJson } from "../events/storable-json.ts";
import { withoutHostPaths } from "./host-paths.ts";

/** Longest message that is recorded, in characters. */
const maxMessageLength = 4_000;

/** Fields that tell a caller which part failed, kept when they are plain texts. */
const keptFields = ["code", "middleware", "hook", "tool", "field"] as const;

/**
 * An error as data for the log: name, message and code, never a stack or a folder of this machine. Anything that can be thrown is accepted.
 */
export function toErrorData(error: unknown): ErrorData {
  if (!(error instanceof Error)) return { name: "Error", message: textOf(error) };
  const data: Record<string, string> = { name: error.name, message: shortened(error.message) };
  for (const key of keptFields) {
    const value = (error as unknown as Record<string, unknown>)[key];
    if (typeof value === "string") data[key] = shortened(value);
  }
  return data as ErrorData;
}

function shortened(text: string): string {
  const whole = withoutHostPaths(text.toWellFormed());
  return whole.length > maxMessageLength ? `${whole.slice(0, maxMessageLength)}…` : whole;
}

function textOf(value: unknown): string {
  if (typeof value === "string") return shortened(value);
  try {
    return shortened(JSON.stringify(storableJson(value)) ?? String(value));
  } catch (error) {
    if (!(error instanceof NotJsonError)) throw error;
    return shortened(String(value));
  }
}

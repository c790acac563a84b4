import type { Json } from "../events/json.ts";
import type { RunInput } from "./agent-contract.ts";

/** A `Command` that this runtime has no meaning for. */
export class UnsupportedCommandError extends Error {
  override readonly name = "UnsupportedCommandError";
  constructor(readonly keys: readonly string[]) {
    super(
      `A Command with ${keys.join(" and ")} cannot start a run. Use { resume } to answer interrupts, or { update } to give new messages and fields.`,
    );
  }
}

/** What a LangChain caller passes to `invoke` and `stream`. */
export type LangChainInput =
  | { readonly kind: "input"; readonly input: RunInput }
  | { readonly kind: "resume"; readonly value: Json };

function isCommand(input: unknown): input is {
  readonly resume?: Json;
  readonly update?: Record<string, unknown>;
  readonly goto?: unknown;
} {
  if (typeof input !== "object" || input === null) return false;
  const { lg_name: name, resume, messages } = input as Record<string, unknown>;
  return name === "Command" || (resume !== undefined && messages === undefined);
}

/**
 * Reads text, messages, a state update, null, or LangGraph's `Command`, which is recognised by its shape.
 *
 * @throws {UnsupportedCommandError}
 */
export function readLangChainInput(input: unknown): LangChainInput {
  if (!isCommand(input)) return { kind: "input", input: (input ?? null) as RunInput };
  const { resume, update, goto } = input;
  const jumps = Array.isArray(goto) ? goto.length > 0 : goto !== undefined;
  if (jumps) throw new UnsupportedCommandError(["goto"]);
  if (resume !== undefined && update !== undefined) throw new UnsupportedCommandError(["resume", "update"]);
  if (resume !== undefined) return { kind: "resume", value: resume };
  const entries = Array.isArray(update) ? Object.fromEntries(update) : update;
  return { kind: "input", input: (entries ?? null) as RunInput };
}

/**
 * Answers as `thread.resume` takes them: a map whose keys are all ids of open interrupts is one, everything else
 * answers all of them.
 */
export function answersFor(
  value: Json,
  openIds: readonly string[],
): Readonly<Record<string, Json>> | { readonly all: Json } {
  const isMap =
    typeof value === "object" &&
    value !== null &&
    !Array.isArray(value) &&
    Object.keys(value).length > 0 &&
    Object.keys(value).every((key) => openIds.includes(key));
  return isMap ? (value as Readonly<Record<string, Json>>) : { all: value };
}

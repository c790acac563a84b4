import type { Json } from "../events/json.ts";

const interruptBrand = Symbol.for("threadfold.interrupt");

/** A question to a human. It is data, not an exception, so nothing can catch it by accident. */
export interface InterruptRequest {
  /** `approval`, `question`, or a word of the caller's. */
  readonly kind: string;
  readonly value: Json;
}

/**
 * Asks a human: return it from a tool, from `wrapToolCall` before the call is made, or in `interrupts` of a hook.
 * The run stops with `RunInterrupted`; the answer comes back as `request.decision` (or to the tool's `onAnswer`).
 *
 * @example
 * wrapToolCall: (request, handler) =>
 *   request.decision === undefined ? interrupt("approval", { name: request.toolCall.name }) : handler(request)
 */
export function interrupt(kind: string, value: Json): InterruptRequest {
  const request = { kind, value };
  Object.defineProperty(request, interruptBrand, { value: true });
  return request;
}

/** True for what `interrupt` made. */
export function isInterruptRequest(value: unknown): value is InterruptRequest {
  return typeof value === "object" && value !== null && interruptBrand in value;
}

import { type EventDraft, isEventDraft } from "../../events/define-event.ts";
import type { InterruptRequest } from "../interrupt.ts";
import { isInterruptRequest } from "../interrupt.ts";
import type { FieldUpdate } from "./updates.ts";

/** What a hook gave, taken apart. */
export interface ReadHookResult {
  readonly events: readonly EventDraft[];
  readonly update: FieldUpdate | undefined;
  /** As given: whether it may jump there is checked elsewhere. */
  readonly jumpTo: unknown;
  readonly interrupts: readonly InterruptRequest[];
}

/** A hook gave something that is neither events nor an update. */
export class HookResultError extends Error {
  override readonly name = "HookResultError";
  constructor(problem: string) {
    super(
      `${problem}. Return nothing, events, { events, update, jumpTo, interrupts }, or an object with one key for each field to update.`,
    );
  }
}

const outcomeKeys = new Set(["events", "update", "jumpTo", "jump_to", "interrupts"]);
const commandKeys = new Set(["update", "goto", "resume", "graph", "lg_name", "lc_direct_tool_output"]);

type Entries = Readonly<Record<string, unknown>>;

/** True for LangGraph's `Command`, by its shape. */
export function isCommandLike(value: unknown): value is Entries & { update?: FieldUpdate; goto?: unknown } {
  if (typeof value !== "object" || value === null || Array.isArray(value)) return false;
  if ((value as Entries).lg_name === "Command") return true;
  const keys = Object.keys(value);
  return (
    keys.length > 0 && keys.every((key) => commandKeys.has(key)) && ("goto" in value || "update" in value)
  );
}

/**
 * Takes apart what a hook returned, whatever form it has.
 * @throws {HookResultError}
 */
export function readHookResult(result: unknown): ReadHookResult {
  const nothing: ReadHookResult = { events: [], update: undefined, jumpTo: undefined, interrupts: [] };
  if (result === undefined || result === null) return nothing;
  if (typeof result !== "object") throw new HookResultError(`It returned ${JSON.stringify(result)}`);
  if (isEventDraft(result)) return { ...nothing, events: [result] };
  if (isInterruptRequest(result)) return { ...nothing, interrupts: [result] };
  if (Array.isArray(result)) return { ...nothing, events: checkedEvents(result) };
  const { jumpTo, jump_to, ...rest } = result as Entries;
  const to = jumpTo ?? jump_to;
  if (isCommandLike(rest)) return { ...nothing, update: rest.update, jumpTo: to ?? rest.goto };
  const keys = Object.keys(rest);
  const isOutcome = keys.length > 0 && keys.every((key) => outcomeKeys.has(key));
  if (!isOutcome) return { ...nothing, update: rest, jumpTo: to };
  const { events, update, interrupts } = rest;
  return {
    events: checkedEvents(events ?? []),
    update: update as FieldUpdate | undefined,
    jumpTo: to,
    interrupts: checkedInterrupts(interrupts ?? []),
  };
}

function checkedEvents(events: unknown): readonly EventDraft[] {
  const list = Array.isArray(events) ? events : [events];
  for (const event of list) {
    if (!isEventDraft(event))
      throw new HookResultError("Something in its events was not made by an event definition");
  }
  return list;
}

function checkedInterrupts(interrupts: unknown): readonly InterruptRequest[] {
  const list = Array.isArray(interrupts) ? interrupts : [interrupts];
  for (const request of list) {
    if (!isInterruptRequest(request))
      throw new HookResultError("Something in its interrupts was not made by interrupt()");
  }
  return list;
}

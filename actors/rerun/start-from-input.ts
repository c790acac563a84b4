import type { RecordedEvent } from "../../events/envelope.ts";
import type { Json } from "../../events/json.ts";
import type { Message } from "../../events/message.ts";
import type { Run, RunOptions, Thread } from "../agent-contract.ts";
import { inputOf } from "./answers-of-run.ts";
import type { RecordedRun } from "./recorded-run.ts";

/** A run was begun with something that cannot be given again. */
export class UnrepeatableInputError extends Error {
  override readonly name = "UnrepeatableInputError";
  constructor(
    readonly threadId: string,
    readonly version: number,
    readonly type: string,
  ) {
    super(
      `The run was begun with ${type} (${threadId}@${version}), which cannot be given to a run again. Fork before it, record what you need, and run.`,
    );
  }
}

/**
 * Starts a run with what a recorded run was given: its messages and fields, or its answers to interrupts.
 *
 * @param change changes the messages on their way
 * @throws {UnrepeatableInputError}
 */
export function startFromInput(
  thread: Thread,
  recorded: RecordedRun,
  options: RunOptions = {},
  change: (message: Message) => Message = (message) => message,
): Run {
  const input = inputOf(recorded);
  const by = options.by ?? input[0]?.metadata.by ?? "user";
  const answers = input.filter(({ type }) => type === "InterruptResolved");
  if (answers.length > 0) {
    const decided = answers.map(({ data }) => data as { interruptId: string; decision: Json });
    const byId = Object.fromEntries(decided.map(({ interruptId, decision }) => [interruptId, decision]));
    return thread.resume(byId, { ...options, by });
  }
  if (input.length === 0) return thread.run(null, { ...options, by });
  return thread.run(fieldsOf(recorded, input, change), { ...options, by });
}

function fieldsOf(
  { threadId }: RecordedRun,
  input: readonly RecordedEvent[],
  change: (message: Message) => Message,
): { readonly [field: string]: unknown } {
  const messages: Message[] = [];
  const fields: Record<string, unknown> = {};
  for (const { type, data, version } of input) {
    if (type === "MessagesAdded" || type === "MessagesReplaced") {
      messages.push(...(data as unknown as { messages: readonly Message[] }).messages.map(change));
    } else if (type === "StateUpdated") {
      const { field, value } = data as { field: string; value: Json };
      fields[field] = value;
    } else throw new UnrepeatableInputError(threadId, version, type);
  }
  return { ...(messages.length > 0 && { messages }), ...fields };
}

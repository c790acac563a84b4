import type { Json } from "../events/json.ts";
import type { EventLog } from "../events/log/event-log.ts";
import { openInterrupts, type ThreadFacts } from "../reducers/run-facts.ts";

/** The interrupt has its answer. The second one was not recorded. */
export class InterruptAnsweredError extends Error {
  override readonly name = "InterruptAnsweredError";
  constructor(
    readonly threadId: string,
    readonly interruptId: string,
  ) {
    super(
      `Interrupt ${interruptId} of thread ${threadId} was answered before. An answer counts once; read the thread to see what came of it.`,
    );
  }
}

/** The thread asks nothing of this id. */
export class UnknownInterruptError extends Error {
  override readonly name = "UnknownInterruptError";
  constructor(
    readonly threadId: string,
    /** Undefined: all interrupts were to be answered, and there are none. */
    readonly interruptId: string | undefined,
    readonly open: readonly string[],
  ) {
    const asked = open.length > 0 ? `Open are: ${open.join(", ")}.` : "No interrupt is open.";
    super(
      interruptId === undefined
        ? `Thread ${threadId} waits for no answer. Start a run with an input instead.`
        : `Thread ${threadId} has no interrupt ${interruptId}. ${asked}`,
    );
  }
}

/** An answer to one interrupt. */
export interface Answer {
  readonly id: string;
  readonly decision: Json;
}

/**
 * The answers by interrupt. `{ all: value }` answers every open one.
 *
 * @throws {InterruptAnsweredError} @throws {UnknownInterruptError}
 */
export function chosenAnswers(
  threadId: string,
  facts: ThreadFacts,
  answers: Readonly<Record<string, Json>> | { readonly all: Json },
): readonly Answer[] {
  const open = openInterrupts(facts).map(({ id }) => id);
  const ids = Object.keys(answers);
  const [first] = ids;
  if (ids.length === 1 && first === "all" && !open.includes("all")) {
    const [asked] = facts.interrupts;
    if (open.length === 0 && asked) throw new InterruptAnsweredError(threadId, asked.id);
    if (open.length === 0) throw new UnknownInterruptError(threadId, undefined, open);
    return open.map((id) => ({ id, decision: (answers as { readonly all: Json }).all }));
  }
  return ids.map((id) => {
    if (facts.interrupts.some((asked) => asked.id === id && asked.answered)) {
      throw new InterruptAnsweredError(threadId, id);
    }
    if (!open.includes(id)) throw new UnknownInterruptError(threadId, id, open);
    return { id, decision: (answers as Readonly<Record<string, Json>>)[id] ?? null };
  });
}

/** True when the log holds an answer to an interrupt that is no longer of interest to the fold. */
export async function wasAnswered(log: EventLog, stream: string, id: string): Promise<boolean> {
  for await (const page of log.read(stream, { types: ["InterruptResolved"], backwards: true })) {
    if (page.some(({ data }) => (data as { interruptId?: string }).interruptId === id)) return true;
  }
  return false;
}

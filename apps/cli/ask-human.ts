import type { Json } from "../../events/json.ts";
import type { Interrupt } from "../../events/run.ts";
import type { Session } from "./session.ts";

/** Answers by interrupt id. */
export type Answers = Readonly<Record<string, Json>>;

interface Action {
  readonly name?: string;
  readonly args?: unknown;
  readonly description?: string;
}

/** The call that an approval is about; undefined for other questions. */
export function askedAction(interrupt: Interrupt): Action | undefined {
  const { action_requests: actions } = (interrupt.value ?? {}) as { action_requests?: readonly Action[] };
  return interrupt.kind === "approval" ? (actions?.[0] ?? {}) : undefined;
}

/** A question in one line. */
export function questionText(interrupt: Interrupt): string {
  const action = askedAction(interrupt);
  if (action) return action.description ?? `Run ${String(action.name)} with ${JSON.stringify(action.args)}?`;
  const { value } = interrupt;
  if (typeof value === "string") return value;
  const { question } = (value ?? {}) as { question?: unknown };
  return typeof question === "string" ? question : JSON.stringify(value);
}

/** The same decision for every approval; other questions are left open. */
export function decideAll(interrupts: readonly Interrupt[], decision: "approve" | "reject"): Answers {
  return Object.fromEntries(
    interrupts.filter((interrupt) => askedAction(interrupt)).map(({ id }) => [id, { type: decision }]),
  );
}

/** Asks on the terminal, one question after the other. Undefined: the human stopped answering. */
export async function askHuman(
  session: Session,
  interrupts: readonly Interrupt[],
): Promise<Answers | undefined> {
  const { isCancel, select, text } = await import("@clack/prompts");
  const common = { output: process.stderr, signal: session.signal };
  const answers: Record<string, Json> = {};
  for (const interrupt of interrupts) {
    const message = questionText(interrupt);
    if (!askedAction(interrupt)) {
      const answer = await text({ ...common, message });
      if (isCancel(answer)) return undefined;
      answers[interrupt.id] = answer;
      continue;
    }
    const decision = await select({
      ...common,
      message,
      options: [
        { value: "approve", label: "Approve" },
        { value: "reject", label: "Reject" },
      ],
    });
    if (isCancel(decision)) return undefined;
    answers[interrupt.id] = { type: decision };
  }
  return answers;
}

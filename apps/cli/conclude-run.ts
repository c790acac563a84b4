import type { RunResult, Thread } from "../../actors/agent-contract.ts";
import type { Message } from "../../events/message.ts";
import { askedAction, askHuman, decideAll, questionText } from "./ask-human.ts";
import { exitCodeFor, exitCodes, isUnreachable } from "./exit-codes.ts";
import { followRun, type StreamMode, textOf } from "./follow-run.ts";
import { reportError } from "./report-error.ts";
import type { Session } from "./session.ts";

/** Rounds of questions that are answered by rule before the command gives up. */
const maxAutomaticRounds = 100;

/** What to do with questions that a run ends with. */
export interface QuestionPolicy {
  readonly approve: "ask" | "all" | "none";
  readonly stream: StreamMode;
}

/** Answers what the run asks, by rule or by a human at the terminal, until it ends or nobody can answer. */
export async function answerQuestions(
  session: Session,
  thread: Thread,
  first: RunResult,
  { approve, stream }: QuestionPolicy,
): Promise<RunResult> {
  let result = first;
  for (let round = 0; result.status === "interrupted" && round < maxAutomaticRounds; round++) {
    const open = result.interrupts;
    const decided = approve === "ask" ? {} : decideAll(open, approve === "all" ? "approve" : "reject");
    const undecided = open.filter(({ id }) => !Object.hasOwn(decided, id));
    const asked = undecided.length > 0 && session.terminal.interactive && !session.signal.aborted;
    const answers = asked ? await askHuman(session, undecided) : {};
    if (answers === undefined) return result;
    const all = { ...decided, ...answers };
    if (Object.keys(all).length === 0) return result;
    result = await followRun(session, thread.resume(all), stream);
  }
  return result;
}

/** Says how a run ended, and sets the exit code. */
export async function concludeRun(session: Session, result: RunResult): Promise<void> {
  const { terminal, options } = session;
  setExitCode(session, result);
  const { threadId, runId, status, fromVersion, version, usage, interrupts, stopReason } = result;
  const document = {
    threadId,
    runId,
    status,
    fromVersion,
    version,
    answer: lastAnswer(result),
    usage,
    interrupts,
    ...(stopReason !== undefined && { stopReason }),
    ...(result.error && { error: result.error }),
  };
  if (options.json) await terminal.json(document);
  if (options.ndjson) await terminal.record({ kind: "result", ...document });
  if (result.error) {
    const isOfStore = /^(?:Log|Blobs)Unavailable/.test(result.error.name);
    const hint =
      isUnreachable(result.error) && !isOfStore
        ? " The model's server did not answer. Look for servers with: threadfold doctor --probe"
        : "";
    const shown = new Error(`${result.error.message}${hint}`);
    shown.name = result.error.name;
    reportError(shown, terminal, options.debug === true);
  }
  footer(session, result);
}

function lastAnswer({ state }: RunResult): string | null {
  const messages = (state.messages ?? []) as readonly Message[];
  const last = messages.findLast(({ type }) => type === "ai");
  return last ? textOf(last) : null;
}

function setExitCode(session: Session, { status, error }: RunResult): void {
  if (session.signal.aborted) session.exitWith(exitCodes.interrupted);
  else if (status === "interrupted") session.exitWith(exitCodes.waiting);
  else if (status === "failed") session.exitWith(exitCodeFor(error));
  else if (status === "cancelled") session.exitWith(exitCodes.failed);
}

function footer({ terminal }: Session, result: RunResult): void {
  const { threadId, fromVersion, version, status, usage, interrupts, stopReason } = result;
  const { dim, bold, yellow } = terminal.talkColors;
  const tokens = usage.inputTokens + usage.outputTokens;
  const facts = [
    `thread ${bold(threadId)}`,
    `versions ${fromVersion + 1}–${version}`,
    ...(status === "completed" ? [] : [status]),
    ...(stopReason === undefined ? [] : [`stopped early: ${stopReason}`]),
    ...(tokens > 0 ? [`${usage.inputTokens} tokens in, ${usage.outputTokens} out`] : []),
  ];
  terminal.say(dim("─".repeat(Math.min(60, terminal.width))));
  terminal.say(facts.join(dim(" · ")));
  if (status === "interrupted") {
    terminal.say(yellow("The thread waits for an answer:"));
    for (const interrupt of interrupts)
      terminal.say(`  ${interrupt.kind} ${interrupt.id}: ${questionText(interrupt)}`);
    const approvals = interrupts.every((interrupt) => askedAction(interrupt));
    const how = approvals ? "--approve   (or --reject, --edit '{…}')" : "--answer '…'";
    terminal.say(`next: threadfold resume ${threadId} ${how}`);
    return;
  }
  terminal.say(dim(`next: threadfold events ${threadId}   threadfold diff ${threadId}@${fromVersion} @head`));
}

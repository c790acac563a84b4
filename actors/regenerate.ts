import { threadIdOf, threadStream } from "../events/envelope.ts";
import type { Message } from "../events/message.ts";
import { checkVersion, resolveLineage } from "../projections/lineage.ts";
import type { Agent, Run, RunOptions, Thread } from "./agent-contract.ts";
import { inputOf } from "./rerun/answers-of-run.ts";
import { type RecordedRun, readRecordedRuns } from "./rerun/recorded-run.ts";
import { startFromInput } from "./rerun/start-from-input.ts";
import { titleByHand } from "./title-by-hand.ts";

/** The thread has no such message, or no run that led to it. */
export class UnknownMessageError extends Error {
  override readonly name = "UnknownMessageError";
  constructor(
    readonly threadId: string,
    readonly messageId: string | undefined,
    reason: string,
  ) {
    const what = messageId === undefined ? "no message" : `no message "${messageId}"`;
    super(
      `Thread "${threadId}" has ${what} ${reason}. Show its messages with: state ${threadId} --path "$.messages[*]['id','type']"`,
    );
  }
}

/** The message stands in the history that a fork took over: the thread cannot go back behind its own beginning. */
export class InheritedMessageError extends Error {
  override readonly name = "InheritedMessageError";
  constructor(
    readonly threadId: string,
    readonly ownerId: string,
    readonly messageId: string,
  ) {
    super(
      `Message "${messageId}" of thread "${threadId}" belongs to its parent "${ownerId}", and a thread goes back within its own events only. Do it in a fork instead (as: "fork").`,
    );
  }
}

export interface RegenerateOptions extends RunOptions {
  /** Default: the last one of its kind. */
  readonly messageId?: string;
  /** `rewind` (default): the thread goes back and the old branch stays readable; `fork`: a new thread is made. */
  readonly as?: "rewind" | "fork";
  /** Id of the fork. */
  readonly threadId?: string;
}

/** What was begun. */
export interface Regenerated {
  readonly thread: Thread;
  readonly run: Run;
  /** Version that the new branch leaves from. */
  readonly from: number;
}

/**
 * Asks for another answer: goes back before the run that gave a message of the model's (the last one), and runs again
 * with the same input. A title that a user gave later stays.
 *
 * @throws {UnknownMessageError} @throws {InheritedMessageError} @throws {ThreadBusyError} @throws {UnrepeatableInputError}
 * @example
 * const { run } = await regenerate(agent, "t1");
 * await run.result;
 */
export async function regenerate(
  agent: Agent,
  threadId: string,
  options: RegenerateOptions = {},
): Promise<Regenerated> {
  const found = await findRun(agent, threadId, options.messageId, answered, "that a model gave");
  return goBack(agent, threadId, found, options);
}

/**
 * Changes what a user said and runs from there: goes back before the run that brought the message (the user's last
 * one), and runs with the other content in its place.
 *
 * @throws {UnknownMessageError} @throws {InheritedMessageError} @throws {ThreadBusyError} @throws {UnrepeatableInputError}
 * @example
 * const { run } = await editAndRerun(agent, "t1", "How much is 3 + 3?", { messageId });
 */
export async function editAndRerun(
  agent: Agent,
  threadId: string,
  content: Message["content"],
  options: RegenerateOptions = {},
): Promise<Regenerated> {
  const found = await findRun(agent, threadId, options.messageId, given, "that a run was given");
  return goBack(agent, threadId, found, options, (message) =>
    message.id === found.messageId ? { ...message, content } : message,
  );
}

interface FoundRun {
  readonly run: RecordedRun;
  readonly messageId: string;
}

type MessagesOf = (run: RecordedRun) => readonly Message[];

const answered: MessagesOf = ({ events }) =>
  events
    .filter(({ type }) => type === "ModelResponded")
    .map(({ data }) => (data as unknown as { message: Message }).message);

const given: MessagesOf = (run) =>
  inputOf(run)
    .filter(({ type }) => type === "MessagesAdded")
    .flatMap(({ data }) => (data as unknown as { messages: readonly Message[] }).messages)
    .filter(({ type }) => type === "human");

/** The run on the thread's current branch that has the message; runs of parents, too. */
async function findRun(
  agent: Agent,
  threadId: string,
  messageId: string | undefined,
  messagesOf: MessagesOf,
  what: string,
): Promise<FoundRun> {
  const { log } = await agent.store();
  const stream = threadStream(threadId);
  const segments = await resolveLineage(log, stream, await checkVersion(log, stream, undefined));
  for (const { stream: part, from, to } of segments.toReversed()) {
    const owner = threadIdOf(part) ?? threadId;
    const runs = await readRecordedRuns(log, agent.registry, owner, to);
    for (const run of runs.toReversed()) {
      if (run.after + 1 < from && (run.events.at(-1)?.version ?? 0) < from) continue;
      const found = messagesOf(run).findLast(({ id }) => messageId === undefined || id === messageId);
      if (found) return { run, messageId: found.id };
    }
  }
  throw new UnknownMessageError(threadId, messageId, what);
}

async function goBack(
  agent: Agent,
  threadId: string,
  { run: recorded, messageId }: FoundRun,
  { as = "rewind", messageId: _, threadId: forkId, ...options }: RegenerateOptions,
  change?: (message: Message) => Message,
): Promise<Regenerated> {
  const from = recorded.after;
  if (as === "fork") {
    const fork = await agent
      .thread(recorded.threadId)
      .fork({ at: from, ...(forkId !== undefined && { threadId: forkId }) });
    return { thread: fork, run: startFromInput(fork, recorded, options, change), from };
  }
  if (recorded.threadId !== threadId) throw new InheritedMessageError(threadId, recorded.threadId, messageId);
  const thread = agent.thread(threadId);
  const reason = change ? `edit of message ${messageId}` : `another answer than message ${messageId}`;
  const title = await titleByHand((await agent.store()).log, threadId, from + 1);
  await thread.rewind({ to: from, reason });
  if (title !== undefined) await thread.update({ title });
  return { thread, run: startFromInput(thread, recorded, options, change), from };
}

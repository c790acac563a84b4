import { cp, mkdir, readdir, stat } from "node:fs/promises";
import { basename, join, resolve, sep } from "node:path";
import { text } from "node:stream/consumers";
import { type Command, Option } from "@commander-js/extra-typings";
import type { Thread } from "../../../actors/agent-contract.ts";
import { answerQuestions, concludeRun } from "../conclude-run.ts";
import { followRun, streamModes } from "../follow-run.ts";
import { openAgent } from "../open-agent.ts";
import type { Session } from "../session.ts";
import { FileNotFoundError, UsageError } from "../usage-error.ts";
import { wholeNumber } from "../whole-number.ts";

const collect = (value: string, before: readonly string[]) => [...before, value];

/** `threadfold run` */
export function define(command: Command, session: Session): void {
  command
    .argument("[prompt]", "what to do; - or nothing reads stdin")
    .option("--thread <id>", "go on with this thread, or start it under this id")
    .option("--from <position>", "start from a version of a thread, in a fork of it")
    .option("--model <name>", "builtin:planner, openai:<model>, ollama:<model>, replay:<file or thread> …")
    .option("--agent <file>", "file that exports the agent")
    .option(
      "--files <path>",
      "copy a file or folder into the thread's workspace first; may come again",
      collect,
      [],
    )
    .addOption(
      new Option(
        "--approve <how>",
        "what to do with calls that need approval (default: ask, if a language model may run commands)",
      ).choices(["ask", "all", "none"] as const),
    )
    .option("--max-steps <n>", "steps at most", wholeNumber)
    .option("--timeout <seconds>", "cancel the run after this time", wholeNumber)
    .option("--queue", "leave the run to a worker (threadfold worker), and end")
    .addOption(
      new Option("--stream <what>", "what to show while it runs")
        .choices(streamModes)
        .default("text" as const),
    )
    .action(async (given, flags) => {
      const prompt = await promptFrom(given);
      if (flags.thread !== undefined && flags.from !== undefined) {
        throw new UsageError(
          "--thread and --from name two threads. A run goes on with one. Give one of them.",
        );
      }
      const model = flags.model ?? (await session.settings()).model.value;
      const approve = flags.approve ?? (/^(?:builtin|replay):/.test(model) ? "all" : "ask");
      const agent = await openAgent(session, {
        checkModel: true,
        approve,
        ...(flags.model !== undefined && { model: flags.model }),
        ...(flags.agent !== undefined && { agent: flags.agent }),
        ...(flags.maxSteps !== undefined && { limits: { maxSteps: flags.maxSteps } }),
      });
      const thread =
        flags.from === undefined
          ? agent.thread(await threadNamed(session, flags.thread))
          : await forkAt(session, agent, flags.from);
      if (flags.files.length > 0) await checkFree(thread);
      await copyFiles(session, flags.files, thread.id);
      if (flags.queue) return queue(session, agent.name, thread.id, prompt, flags.maxSteps);
      const run = thread.run(prompt);
      const timer =
        flags.timeout === undefined
          ? undefined
          : setTimeout(
              () => void run.cancel(`timeout after ${flags.timeout} s`).catch(() => undefined),
              flags.timeout * 1000,
            );
      try {
        const policy = { approve, stream: flags.stream };
        const first = await followRun(session, run, flags.stream);
        await concludeRun(session, await answerQuestions(session, thread, first, policy));
      } finally {
        clearTimeout(timer);
      }
    });
}

/** The files of a thread that is at work are left alone. @throws {ThreadBusyError} */
async function checkFree(thread: Thread): Promise<void> {
  const { ThreadBusyError } = await import("../../../actors/thread-busy.ts");
  const { status, runId } = await thread.info();
  if (status === "running" && runId) throw new ThreadBusyError(thread.id, runId, "another process");
}

async function queue(
  session: Session,
  agent: string,
  threadId: string,
  input: string,
  maxSteps: number | undefined,
): Promise<void> {
  const { queueRun } = await import("../../../actors/queued-request.ts");
  const limits = maxSteps === undefined ? {} : { limits: { maxSteps } };
  const { terminal, options } = session;
  const queued = await queueRun(await session.store(), { threadId, input }, { agent, ...limits });
  if (options.json) return terminal.json(queued);
  if (options.ndjson) return terminal.record({ kind: "queued", ...queued });
  await terminal.line(`${queued.threadId}\t${queued.runId}`);
  terminal.say("A worker runs it: threadfold worker. See what waits with: threadfold queue");
}

async function promptFrom(given: string | undefined): Promise<string> {
  if (given !== undefined && given !== "-") return checkPrompt(given);
  if (given === undefined && process.stdin.isTTY) {
    throw new UsageError(
      'There is no prompt. A run needs something to do. Write: threadfold run "list the files here"',
    );
  }
  return checkPrompt(await text(process.stdin));
}

function checkPrompt(prompt: string): string {
  if (prompt.trim() === "")
    throw new UsageError("The prompt is empty. A run needs something to do. Write some text.");
  return prompt;
}

/** Ids that were minted here. */
const mintedId = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/;
const partOfMintedId = /^[0-9a-f]{4,8}(?:-[0-9a-f-]*)?$/;

/**
 * The thread that is gone on with. Minted ids may be cut short. An id of somebody's own is written whole: `user-1` is
 * another thread than `user-10`, and a new one when it is not there.
 */
async function threadNamed(session: Session, text: string | undefined): Promise<string | undefined> {
  if (text === undefined) return undefined;
  const { UnknownThreadError } = await import("../../../projections/lineage.ts");
  const { AmbiguousThreadError, resolveThread } = await import("../../../projections/thread-position.ts");
  const { checkStreamName } = await import("../../../events/log/event-log.ts");
  try {
    const threadId = await resolveThread((await session.store()).log, text);
    if (threadId === text || (partOfMintedId.test(text) && mintedId.test(threadId))) return threadId;
  } catch (error) {
    const isOwn = error instanceof AmbiguousThreadError && !partOfMintedId.test(text);
    if (!(error instanceof UnknownThreadError) && !isOwn) throw error;
  }
  checkStreamName(`thread-${text}`);
  return text;
}

async function forkAt(session: Session, agent: Awaited<ReturnType<typeof openAgent>>, from: string) {
  const { resolvePosition } = await import("../../../projections/thread-position.ts");
  const { threadId, version } = await resolvePosition((await session.store()).log, from);
  const fork = await agent.thread(threadId).fork({ at: version });
  session.terminal.say(`Forked ${threadId}@${version} as ${fork.id}.`);
  return fork;
}

/** Files that are never copied into a workspace. */
const left = /(?:^|[\\/])(?:node_modules|\.git)$/;

async function copyFiles(session: Session, paths: readonly string[], threadId: string): Promise<void> {
  if (paths.length === 0) return;
  const { threadFolders } = await import("../../../actors/sandboxes/thread-folders.ts");
  const { folder } = await session.store();
  const { workspace_path: workspace } = threadFolders({ folder, threadId });
  await mkdir(workspace, { recursive: true });
  for (const path of paths) {
    const from = resolve(path);
    const found = await stat(from).catch(() => undefined);
    if (!found) throw new FileNotFoundError(path);
    await copyInto(from, join(workspace, basename(from)), { folder: resolve(folder), workspace });
  }
}

/** Copies a file or folder, without the folder of the store when that lies in it. */
async function copyInto(
  from: string,
  to: string,
  store: { readonly folder: string; readonly workspace: string },
): Promise<void> {
  const { folder, workspace } = store;
  const holds = (path: string) => `${workspace}${sep}`.startsWith(`${path}${sep}`);
  const isOfStore = (path: string) => `${path}${sep}`.startsWith(`${folder}${sep}`);
  if (!holds(from)) {
    await cp(from, to, { recursive: true, filter: (source) => !left.test(source) });
    return;
  }
  await mkdir(to, { recursive: true });
  for (const name of await readdir(from)) {
    const source = join(from, name);
    if (left.test(source) || (holds(source) && isOfStore(source))) continue;
    await copyInto(source, join(to, name), store);
  }
}

import { type Command, Option } from "@commander-js/extra-typings";
import type { Json } from "../../../events/json.ts";
import { answerQuestions, concludeRun } from "../conclude-run.ts";
import { exitCodes } from "../exit-codes.ts";
import { followRun, streamModes } from "../follow-run.ts";
import { openAgent } from "../open-agent.ts";
import type { Session } from "../session.ts";
import { UsageError } from "../usage-error.ts";

/** `threadfold resume` */
export function define(command: Command, session: Session): void {
  command
    .argument("<thread>", "thread that waits for an answer")
    .option("--approve", "approve the calls")
    .option("--reject [reason]", "reject the calls")
    .option("--edit <json>", "run the call with these arguments instead")
    .option("--answer <text>", "answer a question; JSON is taken as JSON")
    .option("--interrupt <id>", "only this question (default: all that are open)")
    .option("--model <name>", "model to go on with (default: that of the thread's last call)")
    .option("--agent <file>", "file that exports the agent")
    .addOption(
      new Option("--stream <what>", "what to show while it runs")
        .choices(streamModes)
        .default("text" as const),
    )
    .action(async (text, flags) => {
      const { resolveThread } = await import("../../../projections/thread-position.ts");
      const threadId = await resolveThread((await session.store()).log, text);
      const answer = answerFrom(flags);
      const agent = await openAgent(session, {
        checkModel: true,
        // The call that waits was asked for by this rule; without it the answer would find nobody.
        approve: "ask",
        ...(await modelOf(session, threadId, flags.model)),
        ...(flags.agent !== undefined && { agent: flags.agent }),
      });
      const thread = agent.thread(threadId);
      const { interrupts } = await thread.info();
      const policy = { approve: "ask" as const, stream: flags.stream };
      if (answer === undefined) {
        if (interrupts.length === 0) {
          session.terminal.say(`Thread ${threadId} waits for nothing.`);
          session.exitWith(exitCodes.notFound);
          return;
        }
        if (!session.terminal.interactive) {
          throw new UsageError(
            "There is no answer, and nobody can be asked without a terminal. Questions are answered by flags then. Give --approve, --reject, --edit or --answer.",
          );
        }
        const { askHuman } = await import("../ask-human.ts");
        const answers = await askHuman(session, interrupts);
        if (!answers) return session.exitWith(exitCodes.waiting);
        const first = await followRun(session, thread.resume(answers), flags.stream);
        return concludeRun(session, await answerQuestions(session, thread, first, policy));
      }
      const answers = flags.interrupt === undefined ? { all: answer } : { [flags.interrupt]: answer };
      const first = await followRun(session, thread.resume(answers), flags.stream);
      await concludeRun(session, await answerQuestions(session, thread, first, policy));
    });
}

/** The model of the flag or of the settings; else the one that the thread's last call went to. */
async function modelOf(
  session: Session,
  threadId: string,
  flag: string | undefined,
): Promise<{ readonly model?: string }> {
  if (flag !== undefined) return { model: flag };
  if ((await session.settings()).model.from !== "default") return {};
  const { log } = await session.store();
  const options = { types: ["ModelCallStarted"], backwards: true, limit: 1 };
  for await (const page of log.read(`thread-${threadId}`, options)) {
    const { model } = (page[0]?.data ?? {}) as { model?: unknown };
    if (typeof model === "string" && /^[a-z-]+:/.test(model)) return { model };
  }
  return {};
}

interface AnswerFlags {
  readonly approve?: true | undefined;
  readonly reject?: string | true | undefined;
  readonly edit?: string | undefined;
  readonly answer?: string | undefined;
}

/** The answer that the flags give; undefined: they give none. */
function answerFrom({ approve, reject, edit, answer }: AnswerFlags): Json | undefined {
  const given = [approve, reject, edit, answer].filter((flag) => flag !== undefined);
  if (given.length > 1) {
    throw new UsageError(
      "There are several answers. A question has one. Give one of --approve, --reject, --edit, --answer.",
    );
  }
  if (approve) return { type: "approve" };
  if (reject !== undefined) return { type: "reject", ...(typeof reject === "string" && { message: reject }) };
  if (edit !== undefined) return { type: "edit", edited_action: { args: parseEdit(edit) } };
  return answer === undefined ? undefined : parseAnswer(answer);
}

function parseEdit(text: string): { [key: string]: Json } {
  try {
    const value: unknown = JSON.parse(text);
    if (typeof value === "object" && value !== null && !Array.isArray(value))
      return value as { [key: string]: Json };
  } catch {
    // Told below.
  }
  throw new UsageError(
    `--edit takes the new arguments as a JSON object. "${text}" is none. Write it like '{"command":"ls"}'.`,
  );
}

function parseAnswer(text: string): Json {
  try {
    return JSON.parse(text) as Json;
  } catch {
    return text;
  }
}

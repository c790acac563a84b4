import { type Command, Option } from "@commander-js/extra-typings";
import { answerQuestions, concludeRun } from "../conclude-run.ts";
import { followRun, streamModes } from "../follow-run.ts";
import { openAgent } from "../open-agent.ts";
import type { Session } from "../session.ts";

/** `threadfold regenerate` */
export function define(command: Command, session: Session): void {
  command
    .argument("<thread>", "the thread")
    .option("--message <id>", "the answer to ask for again (default: the last); with --edit the question")
    .option("--edit <text>", "say this in the place of the user's message")
    .option("--fork [id]", "in a fork; the thread stays as it is (default: the thread goes back)")
    .option("--model <name>", "ask another model")
    .option("--agent <file>", "file that exports the agent")
    .addOption(
      new Option("--approve <how>", "what to do with calls that need approval")
        .choices(["ask", "all", "none"] as const)
        .default("ask" as const),
    )
    .addOption(
      new Option("--stream <what>", "what to show while it runs")
        .choices(streamModes)
        .default("text" as const),
    )
    .action(async (text, flags) => {
      const { editAndRerun, regenerate } = await import("../../../actors/regenerate.ts");
      const { resolveThread } = await import("../../../projections/thread-position.ts");
      const threadId = await resolveThread((await session.store()).log, text);
      const agent = await openAgent(session, {
        checkModel: true,
        approve: flags.approve,
        ...(flags.model !== undefined && { model: flags.model }),
        ...(flags.agent !== undefined && { agent: flags.agent }),
      });
      const options = {
        as: flags.fork === undefined ? ("rewind" as const) : ("fork" as const),
        ...(typeof flags.fork === "string" && { threadId: flags.fork }),
        ...(flags.message !== undefined && { messageId: flags.message }),
      };
      const { thread, run, from } = await (flags.edit === undefined
        ? regenerate(agent, threadId, options)
        : editAndRerun(agent, threadId, flags.edit, options));
      session.terminal.say(`Runs again from @${from}${thread.id === threadId ? "" : ` as ${thread.id}`}.`);
      const first = await followRun(session, run, flags.stream);
      const policy = { approve: flags.approve, stream: flags.stream };
      await concludeRun(session, await answerQuestions(session, thread, first, policy));
    });
}

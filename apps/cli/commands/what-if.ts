import type { Command } from "@commander-js/extra-typings";
import type { Outcome, WhatIf } from "../../../actors/what-if.ts";
import { openAgent } from "../open-agent.ts";
import type { Session } from "../session.ts";
import { wholeNumber } from "../whole-number.ts";

/** `threadfold what-if` */
export function define(command: Command, session: Session): void {
  command
    .argument("<position>", "where to part, like thread@7 or thread@run:<id>:start")
    .option("--model <name>", "with this model")
    .option("--agent <file>", "with this agent: another prompt, tools or middlewares")
    .option("--input <text>", "say this instead of what was said then")
    .option("--runs <n>", "runs to do otherwise, one after the other (default: 1)", wholeNumber)
    .option("--as <thread>", "id of the fork (default: a new one)")
    .action(async (position, flags) => {
      const { terminal, options } = session;
      const { whatIf } = await import("../../../actors/what-if.ts");
      const { resolvePosition } = await import("../../../projections/thread-position.ts");
      const { threadId, version } = await resolvePosition((await session.store()).log, position);
      const agent = await openAgent(session, {
        checkModel: true,
        ...(flags.model !== undefined && { model: flags.model }),
        ...(flags.agent !== undefined && { agent: flags.agent }),
      });
      const compared = await whatIf(agent, threadId, {
        at: version,
        signal: session.signal,
        ...(flags.input !== undefined && { input: flags.input }),
        ...(flags.runs !== undefined && { runs: flags.runs }),
        ...(flags.as !== undefined && { threadId: flags.as }),
      });
      if (options.json) return terminal.json(compared);
      if (options.ndjson) return terminal.record(compared);
      await print(compared, session);
    });
}

const rows: readonly (readonly [name: string, text: (outcome: Outcome) => string])[] = [
  ["thread", ({ threadId, version }) => `${threadId}@${version}`],
  ["status", ({ status }) => status],
  ["model calls", ({ modelCalls }) => String(modelCalls)],
  ["tool calls", ({ toolCalls, tools }) => `${toolCalls}${toolCalls > 0 ? ` (${tools.join(", ")})` : ""}`],
  ["tokens", ({ inputTokens, outputTokens }) => `${inputTokens}+${outputTokens}`],
  ["time", ({ durationMs }) => `${durationMs} ms`],
  ["answer", ({ answer }) => JSON.stringify(answer ?? null)],
];

async function print({ at, before, after, fields }: WhatIf, session: Session): Promise<void> {
  const { terminal } = session;
  const { dim, yellow } = terminal.colors;
  await terminal.line(dim(`The two part at @${at}.`));
  for (const [name, text] of rows) {
    const [was, is] = [before && text(before), text(after)];
    await terminal.line(
      was === undefined ? `${name}\t${is}` : `${name}\t${was}\t${was === is ? is : yellow(is)}`,
    );
  }
  if (before) await terminal.line(`fields that differ\t${fields.length === 0 ? "none" : fields.join(", ")}`);
  terminal.say(
    `Compare them with: threadfold diff ${before?.threadId ?? ""}@${before?.version ?? ""} ${after.threadId}`,
  );
}

import type { Command } from "@commander-js/extra-typings";
import type { Session } from "../session.ts";

/** `threadfold heads` */
export function define(command: Command, session: Session): void {
  command
    .argument("<position>", "the thread; with --set the version that gets the name")
    .option("--set <name>", "give a name to the version; thread@<name> means it from now on")
    .option("--remove <name>", "take a name away")
    .action(async (text, { set, remove }) => {
      const { terminal, options } = session;
      const { parsePosition, resolvePosition } = await import("../../../projections/thread-position.ts");
      const { readHeads } = await import("../../../projections/branches.ts");
      const { UsageError } = await import("../usage-error.ts");
      const { log } = await session.store();
      const { threadId, version } = await resolvePosition(log, text);
      if (set !== undefined || remove !== undefined) {
        const { HeadNamed } = await import("../../../events/thread.ts");
        const { openAgent } = await import("../open-agent.ts");
        if (set !== undefined && parsePosition(`t@${set}`).mark.kind !== "name") {
          throw new UsageError(`"${set}" already means something after an @. Take a word, like --set good.`);
        }
        const agent = await openAgent(session);
        await agent
          .thread(threadId)
          .record(
            [
              ...(set === undefined ? [] : [HeadNamed({ name: set, version })]),
              ...(remove === undefined ? [] : [HeadNamed({ name: remove, version: null })]),
            ],
            { by: "user" },
          );
      }
      const heads = await readHeads(log, threadId);
      if (options.json) return terminal.json({ threadId, heads });
      if (options.ndjson) {
        for (const head of heads) await terminal.record({ threadId, ...head });
        return;
      }
      if (heads.length === 0) terminal.say(`No version of ${threadId} has a name.`);
      for (const head of heads) await terminal.line(`${head.name}\t${threadId}@${head.version}`);
    });
}

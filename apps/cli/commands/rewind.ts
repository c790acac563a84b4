import type { Command } from "@commander-js/extra-typings";
import type { Session } from "../session.ts";

/** `threadfold rewind` */
export function define(command: Command, session: Session): void {
  command
    .argument("<position>", "where the thread goes back to, like thread@7 or thread@-3")
    .option("--reason <text>", "why, for the log")
    .action(async (position, { reason }) => {
      const { terminal, options } = session;
      const { resolvePosition } = await import("../../../projections/thread-position.ts");
      const store = await session.store();
      const { threadId, version: to, head } = await resolvePosition(store.log, position);
      const { openAgent } = await import("../open-agent.ts");
      const agent = await openAgent(session);
      const { version } = await agent
        .thread(threadId)
        .rewind({ to, ...(reason !== undefined && { reason }) });
      const done = { threadId, toVersion: to, version };
      if (options.json) return terminal.json(done);
      if (options.ndjson) return terminal.record(done);
      await terminal.line(`${threadId}@${version}`);
      terminal.say(
        `The state is that of @${to} again. What was after it stays readable: threadfold state ${threadId}@${head}`,
      );
    });
}

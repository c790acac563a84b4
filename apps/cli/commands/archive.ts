import { existsSync } from "node:fs";
import type { Command } from "@commander-js/extra-typings";
import { confirmed } from "../confirm.ts";
import { exitCodes } from "../exit-codes.ts";
import type { Session } from "../session.ts";
import { FileNotFoundError, UsageError } from "../usage-error.ts";

/** `threadfold archive` */
export function define(command: Command, session: Session): void {
  command
    .argument("[thread]", "the thread")
    .option("-o, --output <file>", "the file to write (default: <thread>.ndjson.gz)")
    .option("--reason <text>", "why, for the log")
    .option("--remove", "take the events out of the log afterwards")
    .option("--restore <file>", "take an archived thread back into use")
    .option("--yes", "do not ask")
    .action(async (thread, { output, reason, remove, restore, yes }) => {
      const { terminal, options } = session;
      if ((thread === undefined) === (restore === undefined)) {
        throw new UsageError("Nothing to archive. Name a thread, or a file with --restore.");
      }
      const archive = await import("../../../projections/archive.ts");
      const store = await session.store();
      if (restore !== undefined) {
        if (!existsSync(restore)) throw new FileNotFoundError(restore);
        const { registry } = await session.reading();
        const threads = await archive.restoreThread(store, restore, { by: "user", registry });
        if (options.json) return terminal.json({ threads });
        for (const one of threads) {
          if (options.ndjson) await terminal.record(one);
          else await terminal.line(`${one.threadId}@${one.version}`);
        }
        return;
      }
      const { resolveThread } = await import("../../../projections/thread-position.ts");
      const threadId = await resolveThread(store.log, thread ?? "");
      if (
        remove &&
        !(await confirmed(session, `Take thread ${threadId} out of the log after archiving it?`, yes))
      ) {
        terminal.say("Nothing was archived.");
        session.exitWith(exitCodes.failed);
        return;
      }
      const file = output ?? `${threadId}.ndjson.gz`;
      const result = await archive.archiveThread(store, threadId, {
        file,
        by: "user",
        ...(reason !== undefined && { reason }),
        ...(remove && { remove }),
      });
      if (options.json) return terminal.json(result);
      if (options.ndjson) return terminal.record(result);
      await terminal.line(file);
      terminal.say(
        `${result.events} events of ${threadId}. Restore them with: threadfold archive --restore ${file}`,
      );
    });
}

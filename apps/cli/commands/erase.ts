import { dirname } from "node:path";
import type { Command } from "@commander-js/extra-typings";
import { confirmed } from "../confirm.ts";
import { exitCodes } from "../exit-codes.ts";
import { knownProjections, projectionRows } from "../projections-of-session.ts";
import type { Session } from "../session.ts";

/** `threadfold erase` */
export function define(command: Command, session: Session): void {
  command
    .argument("<thread>", "the thread")
    .option("--reason <text>", "why, for the log")
    .option("--delete", "delete the whole thread with its events (also for threads in plain text)")
    .option("--keep-forks", "erase also when other threads stand on its history")
    .option("--file <file>", "TypeScript or JavaScript file that exports projections of your own")
    .option("--yes", "do not ask")
    .action(async (thread, { reason, delete: whole, keepForks, file, yes }) => {
      const { terminal, options } = session;
      const { deleteThread, eraseThread } = await import("../../../projections/erase-thread.ts");
      const { resolveThread } = await import("../../../projections/thread-position.ts");
      const { threadFolders } = await import("../../../actors/sandboxes/thread-folders.ts");
      const store = await session.store();
      const threadId = await resolveThread(store.log, thread);
      const what = whole
        ? `Delete thread ${threadId} with all its events?`
        : `Erase all content of thread ${threadId}?`;
      if (!(await confirmed(session, what, yes))) {
        terminal.say("Nothing was erased.");
        session.exitWith(exitCodes.failed);
        return;
      }
      const foldersOf = (id: string) => [
        dirname(dirname(threadFolders({ folder: store.folder, threadId: id }).workspace_path)),
      ];
      const { registry } = await session.reading();
      const work = {
        by: "user" as const,
        registry,
        folders: foldersOf(threadId),
        foldersOf,
        projections: { store: await projectionRows(session), projections: await knownProjections(file) },
        ...(reason !== undefined && { reason }),
      };
      const erased = whole
        ? await deleteThread(store, threadId, work)
        : await eraseThread(store, threadId, { ...work, children: keepForks ? "keep" : "refuse" });
      const result = { ...erased, deleted: whole === true };
      if (options.json) return terminal.json(result);
      if (options.ndjson) return terminal.record(result);
      await terminal.line(whole ? `deleted ${threadId}` : `${threadId}@${erased.version}`);
      const blobs = `${erased.blobs} ${erased.blobs === 1 ? "blob" : "blobs"}`;
      terminal.say(
        whole
          ? `Its events and ${blobs} are gone. The id cannot be used again.`
          : `Its key and ${blobs} are destroyed. Events stay without content; check with: threadfold verify ${threadId}`,
      );
      if (erased.delegated.length > 0)
        terminal.say(`With it went the threads of its sub-agents: ${erased.delegated.join(", ")}`);
      for (const table of erased.dropped)
        terminal.say(`Projection table ${table} was dropped and is built again at its next start.`);
    });
}

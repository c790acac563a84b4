import type { Command } from "@commander-js/extra-typings";
import { patchedFields, type ThreadEdit } from "../patched-fields.ts";
import type { Session } from "../session.ts";

/** `threadfold fork` */
export function define(command: Command, session: Session): void {
  command
    .argument("<position>", "where the new thread begins, like thread@7")
    .option("--as <thread>", "id of the new thread (default: a new one)")
    .option("--title <title>", "title of the new thread")
    .option("--edit <file>", "JSON Patch (RFC 6902) that changes the state it begins with; - reads stdin")
    .action(async (position, { as: threadId, title, edit: patchFile }) => {
      const { terminal, options } = session;
      const { resolvePosition } = await import("../../../projections/thread-position.ts");
      const store = await session.store();
      const parent = await resolvePosition(store.log, position);
      let edits: ThreadEdit = {};
      if (patchFile !== undefined) {
        const state = await (await session.readerOf(parent.threadId)).stateAt(
          parent.threadId,
          parent.version,
        );
        edits = await patchedFields(patchFile, state);
      }
      const { openAgent } = await import("../open-agent.ts");
      const { TitleSet } = await import("../../../events/title.ts");
      const agent = await openAgent(session);
      const thread = agent.thread(parent.threadId);
      const fork = await thread.fork({ at: parent.version, ...(threadId !== undefined && { threadId }) });
      if (title !== undefined) await fork.record([TitleSet({ title, origin: "user" })], { by: "user" });
      if (Object.keys(edits).length > 0) await fork.update(edits, { by: "user" });
      const { version } = await fork.info();
      const made = {
        threadId: fork.id,
        version,
        parentThreadId: parent.threadId,
        parentVersion: parent.version,
      };
      if (options.json) return terminal.json(made);
      if (options.ndjson) return terminal.record(made);
      await terminal.line(fork.id);
    });
}

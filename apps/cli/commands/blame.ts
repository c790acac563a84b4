import type { Command } from "@commander-js/extra-typings";
import type { Change } from "../../../projections/blame.ts";
import { printRows } from "../columns.ts";
import { exitCodes } from "../exit-codes.ts";
import type { Session } from "../session.ts";
import { shownTime } from "../shown-time.ts";

/** What stands at a path, on one line. */
export function valuesText(values: readonly unknown[]): string {
  return values.length === 0 ? "(nothing)" : values.map((value) => JSON.stringify(value)).join(" ");
}

/** `threadfold blame` */
export function define(command: Command, session: Session): void {
  command
    .argument("<position>", "thread, or thread@version")
    .requiredOption("--path <jsonpath>", "field or JSONPath, like title or $.todos[0].status")
    .option("--last", "only the last event that changed it")
    .action(async (position, { path, last }) => {
      const { terminal, options } = session;
      const { resolvePosition } = await import("../../../projections/thread-position.ts");
      const { log } = await session.store();
      const { threadId, version } = await resolvePosition(log, position);
      const reader = await session.readerOf(threadId);
      let changes: Change[] = [];
      for await (const change of reader.blame(threadId, path, { at: version })) changes.push(change);
      if (last) changes = changes.slice(-1);
      if (changes.length === 0) session.exitWith(exitCodes.notFound);
      if (options.json) return terminal.json({ threadId, version, path, changes });
      if (options.ndjson) {
        for (const change of changes) await terminal.record(change);
        return;
      }
      if (changes.length === 0) terminal.say(`Nothing changed ${path} up to ${threadId}@${version}.`);
      const utc = options.utc === true || !terminal.screen;
      const { bold, dim, cyan } = terminal.colors;
      await printRows(
        terminal,
        [
          { head: "position", text: (row) => `${row.threadId}@${row.version}`, paint: bold },
          { head: "time", text: (row) => shownTime(row.recordedAt, { utc }), paint: dim },
          { head: "type", text: (row) => row.type, paint: cyan },
          { head: "by", text: (row) => row.by, paint: dim },
          { head: "now", text: (row) => valuesText(row.after), width: Math.max(20, terminal.width - 90) },
        ],
        changes,
      );
    });
}

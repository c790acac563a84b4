import type { Command } from "@commander-js/extra-typings";
import { readInput } from "../read-input.ts";
import type { Session } from "../session.ts";
import { UsageError } from "../usage-error.ts";

/** `threadfold import` */
export function define(command: Command, session: Session): void {
  command
    .argument("<file>", "an export, a LangGraph thread state or its history; - reads stdin")
    .option("--as <thread>", "id for a LangGraph thread (default: its own)")
    .action(async (file, { as: threadId }) => {
      const { terminal, options } = session;
      const text = await readInput(file);
      const { importText } = await import("../../../projections/thread-import.ts");
      const { looksLikeExport } = await import("../../../projections/export-lines.ts");
      if (threadId !== undefined && looksLikeExport(text.split("\n", 1)[0] ?? "")) {
        throw new UsageError(
          "An export keeps the ids of its threads. Its hashes cover them. Leave --as out, or import the LangGraph thread again under another id.",
        );
      }
      const store = await session.store();
      const target = { ...store, ...(await session.reading()) };
      const { threads, notes } = await importText(target, text, threadId === undefined ? {} : { threadId });
      if (options.json) return terminal.json({ threads, notes });
      for (const thread of threads) {
        if (options.ndjson) await terminal.record(thread);
        else await terminal.line(thread.threadId);
        const what =
          thread.added > 0 ? `${thread.added} events added` : "it was there already, nothing added";
        terminal.say(`${thread.threadId}@${thread.version}: ${what}.`);
      }
      if (notes.length > 0)
        terminal.say(`Not as it was in the file:\n${notes.map((note) => `- ${note}`).join("\n")}`);
    });
}

import { type Command, Option } from "@commander-js/extra-typings";
import { type Column, printRows } from "../columns.ts";
import type { Session } from "../session.ts";
import { shownTime } from "../shown-time.ts";
import { UsageError } from "../usage-error.ts";
import { wholeNumber } from "../whole-number.ts";

const statuses = ["idle", "running", "interrupted", "failed", "cancelled", "archived", "erased"];
const signs: Readonly<Record<string, string>> = {
  running: "▶",
  interrupted: "?",
  failed: "✗",
  cancelled: "■",
};

/** `threadfold threads` */
export function define(command: Command, session: Session): void {
  command
    .addOption(new Option("--status <status>", "only threads in this status").choices(statuses))
    .option("--search <text>", "only threads with this in their title or id")
    .option("--since <time>", "only threads with an event since this ISO time")
    .addOption(
      new Option("--sort <by>", "order")
        .choices(["updated", "created", "events"] as const)
        .default("updated" as const),
    )
    .option("--limit <n>", "threads at most", wholeNumber, 50)
    .action(async ({ status, search, since, sort, limit }) => {
      const { terminal, options } = session;
      const { threadSummaries } = await import("../../../projections/thread-summaries.ts");
      const log = await session.shownLog();
      const query = {
        sort,
        limit: limit + 1,
        ...(status !== undefined && { status }),
        ...(search !== undefined && { search }),
        ...(since !== undefined && { since: isoTime(since) }),
      };
      const found = [];
      for await (const thread of threadSummaries(log, query)) found.push(thread);
      const threads = found.slice(0, limit);
      if (options.json) return terminal.json({ threads });
      if (options.ndjson) {
        for (const thread of threads) await terminal.record(thread);
        return;
      }
      if (threads.length === 0) {
        terminal.say('No threads. Start one with: threadfold run "list the files here"');
        return;
      }
      const { dim, green, red, yellow, cyan } = terminal.colors;
      const paints: Readonly<Record<string, (text: string) => string>> = {
        running: cyan,
        interrupted: yellow,
        failed: red,
        idle: green,
      };
      const utc = options.utc === true || !terminal.screen;
      const columns: Column<(typeof threads)[number]>[] = [
        { head: "thread", text: ({ threadId }) => threadId },
        { head: "title", text: ({ title }) => title ?? "", width: 40 },
        {
          head: "status",
          text: (thread) =>
            terminal.screen ? `${signs[thread.status] ?? "·"} ${thread.status}` : thread.status,
          paint: (text, thread) => (paints[thread.status] ?? dim)(text),
        },
        { head: "events", text: ({ version }) => String(version), right: true },
        { head: "updated", text: ({ updatedAt }) => shownTime(updatedAt, { utc }), paint: dim },
      ];
      await printRows(terminal, columns, threads);
      if (found.length > limit) terminal.say(`More threads: --limit ${limit * 2}`);
    });
}

function isoTime(text: string): string {
  const time = new Date(text);
  if (Number.isNaN(time.getTime())) {
    throw new UsageError(`"${text}" is no time. --since takes ISO 8601. Write it like 2026-11-30T09:00Z.`);
  }
  return time.toISOString();
}

import type { Command } from "@commander-js/extra-typings";
import type { QueueEntry } from "../../../events/queue/run-queue.ts";
import { type Column, printRows } from "../columns.ts";
import type { Session } from "../session.ts";
import { shownTime } from "../shown-time.ts";
import { UnknownQueuedRunError } from "../unknown-queued-run.ts";
import { wholeNumber } from "../whole-number.ts";

/** `threadfold queue` */
export function define(command: Command, session: Session): void {
  command
    .option("--retry <run>", "let a run that was set aside be tried again")
    .option("--withdraw <run>", "take a run out that no worker has")
    .option("--limit <n>", "runs at most", wholeNumber, 50)
    .action(async ({ retry, withdraw, limit }) => {
      const { terminal, options } = session;
      const { queue } = await session.store();
      if (retry !== undefined && !(await queue.retry(retry))) {
        throw new UnknownQueuedRunError(retry, "No run of this id was set aside");
      }
      if (withdraw !== undefined && !(await queue.withdraw(withdraw))) {
        throw new UnknownQueuedRunError(withdraw, "No run of this id waits, or a worker has it already");
      }
      const runs = await queue.list(limit);
      if (options.json) return terminal.json({ runs });
      if (options.ndjson) {
        for (const run of runs) await terminal.record(run);
        return;
      }
      if (runs.length === 0) {
        terminal.say('No runs are queued. Queue one with: threadfold run --queue "list the files here"');
        return;
      }
      const { dim, red, cyan } = terminal.colors;
      const paints = { waiting: dim, claimed: cyan, parked: red };
      const utc = options.utc === true || !terminal.screen;
      const columns: Column<QueueEntry>[] = [
        { head: "run", text: ({ runId }) => runId },
        { head: "thread", text: ({ threadId }) => threadId },
        { head: "agent", text: ({ agent }) => agent },
        { head: "state", text: ({ state }) => state, paint: (text, { state }) => paints[state](text) },
        { head: "attempts", text: ({ attempts }) => String(attempts), right: true },
        { head: "queued", text: ({ queuedAt }) => shownTime(queuedAt, { utc }), paint: dim },
        { head: "reason", text: ({ reason }) => reason ?? "", width: 60 },
      ];
      await printRows(terminal, columns, runs);
    });
}

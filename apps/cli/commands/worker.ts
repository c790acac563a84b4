import type { Command } from "@commander-js/extra-typings";
import type { WorkedRun } from "../../../actors/worker.ts";
import { openAgent } from "../open-agent.ts";
import type { Session } from "../session.ts";
import { stopSignal } from "../stop-signal.ts";
import { wholeNumber } from "../whole-number.ts";

const entriesLookedAt = 1000;

/** Runs that wait for agents of other names are easily taken for lost. */
async function tellOfOthers(session: Session, agent: string): Promise<void> {
  const entries = await (await session.store()).queue.list(entriesLookedAt);
  const others = entries.filter((entry) => entry.agent !== agent);
  if (others.length === 0) return;
  const names = [...new Set(others.map((entry) => entry.agent))].join(", ");
  session.terminal.say(
    `${others.length} runs wait for other agents (${names}); this one is called ${agent}. See them with: threadfold queue`,
  );
}

/** `threadfold worker` */
export function define(command: Command, session: Session): void {
  command
    .option("--agent <file>", "file that exports the agent")
    .option("--model <name>", "model of the agent")
    .option("--concurrency <n>", "runs at the same time", wholeNumber, 10)
    .option(
      "--lease <seconds>",
      "others take over the runs of this worker after so long a silence",
      wholeNumber,
      15,
    )
    .option("--grace <seconds>", "how long runs may go on when it is told to stop", wholeNumber, 10)
    .option("--until-idle", "end when the queue is worked off")
    .addHelpText(
      "after",
      "\nStart as many as you like, on as many machines as the store allows. Queue runs with: threadfold run --queue",
    )
    .action(async ({ agent: file, model, concurrency, lease, grace, untilIdle }) => {
      const { createWorker } = await import("../../../actors/worker.ts");
      const { terminal, options, signal } = session;
      const chosen = model ?? (await session.settings()).model.value;
      const leaseMs = lease * 1000;
      const agent = await openAgent(session, {
        approve: /^(?:builtin|replay):/.test(chosen) ? "all" : "ask",
        checkModel: true,
        worker: { leaseMs },
        ...(file !== undefined && { agent: file }),
        ...(model !== undefined && { model }),
      });
      const show = async (run: WorkedRun) => {
        if (options.json || options.ndjson) return terminal.record(run);
        const { threadId, runId, outcome, reason, attempt } = run;
        const details = [
          ...(attempt > 1 ? [`attempt ${attempt}`] : []),
          ...(reason === undefined ? [] : [reason]),
        ];
        await terminal.line([threadId, runId, outcome, ...details].join("\t"));
      };
      const worker = createWorker({
        agent,
        concurrency,
        leaseMs,
        onRun: (run) => void show(run),
        onError: (error) => terminal.say(error instanceof Error ? error.message : String(error)),
      });
      session.onEnd(() => worker.stop({ graceMs: grace * 1000 }));
      terminal.say(`Working on the queued runs of agent ${agent.name}. Ctrl-C stops.`);
      const stopped = stopSignal(signal);
      await (untilIdle ? Promise.race([worker.whenIdle(), stopped]) : stopped);
      if (untilIdle) await tellOfOthers(session, agent.name);
    });
}

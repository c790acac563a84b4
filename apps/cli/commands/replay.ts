import { type Command, Option } from "@commander-js/extra-typings";
import type { Rerun, RerunDivergence } from "../../../actors/rerun/rerun-thread.ts";
import type { Store } from "../../../events/store.ts";
import type { Divergence } from "../../../projections/refold.ts";
import { exitCodes } from "../exit-codes.ts";
import { refuseDamaged } from "../exported-threads.ts";
import { isFile } from "../is-file.ts";
import type { Session } from "../session.ts";
import { uncheckedText } from "../unchecked-text.ts";
import { UsageError } from "../usage-error.ts";

/** One thread that was refolded. */
interface Refolded {
  readonly threadId: string;
  readonly version: number;
  readonly events: number;
  /** Ends of runs whose recorded hash was compared. */
  readonly checked: number;
  /** Ends of runs that had fields which are not known here. */
  readonly unchecked: number;
  /** Ends of runs before which content was erased: their states cannot be compared any more. */
  readonly erased: number;
  readonly unknownFields: readonly string[];
  readonly stateHash: string;
  readonly divergence: Divergence | undefined;
}

interface Flags {
  readonly to?: string | undefined;
  readonly run?: string | undefined;
  readonly agent?: string | undefined;
  readonly model?: string | undefined;
}

/** `threadfold replay` */
export function define(command: Command, session: Session): void {
  command
    .argument("<thread|file>", "a thread, thread@version, or an exported file")
    .addOption(
      new Option("--mode <mode>", "refold: fold the events again; rerun: execute the hooks again")
        .choices(["refold", "rerun"] as const)
        .default("refold" as const),
    )
    .option("--to <mark>", "last version: a number, -5, head, run:<id> …")
    .option("--run <id>", "with rerun: only this run")
    .option("--agent <file>", "with rerun: file that exports the agent")
    .option("--model <name>", "with rerun: name of the agent's model (default: as recorded; nobody is asked)")
    .action(async (source, { mode, ...flags }) => {
      if (mode === "refold" && (flags.run ?? flags.agent ?? flags.model) !== undefined) {
        throw new UsageError("--run, --agent and --model belong to a rerun. Add --mode rerun.");
      }
      const replay = mode === "rerun" ? rerunOne : refoldOne;
      const mark = flags.to === undefined ? "" : `@${flags.to}`;
      if (isFile(source)) {
        const { openExport } = await import("../../../projections/open-export.ts");
        const store = await openExport(source).catch(refuseDamaged);
        session.onEnd(() => store.close());
        const done: object[] = [];
        for (const threadId of store.threadIds) {
          done.push(await replay(session, store, `${threadId}${mark}`, flags));
        }
        return finish(session, done);
      }
      return finish(session, [await replay(session, await session.store(), `${source}${mark}`, flags)]);
    });
}

async function finish({ options, terminal }: Session, threads: readonly object[]): Promise<void> {
  if (options.json) await terminal.json({ threads });
}

async function refoldOne(session: Session, { log }: Store, position: string): Promise<Refolded> {
  const { terminal, options } = session;
  const { refold } = await import("../../../projections/refold.ts");
  const { resolvePosition } = await import("../../../projections/thread-position.ts");
  const { threadId, stream, version } = await resolvePosition(log, position);
  const reading = await session.readingOf(log, threadId);
  const { state: _, ...refolded } = await refold(log, reading, stream, version);
  const one = { threadId, version, ...refolded };
  if (one.divergence) session.exitWith(exitCodes.checkFailed);
  if (options.ndjson) await terminal.record(one);
  else if (!options.json) await terminal.line(refoldText(one, session));
  return one;
}

async function rerunOne(session: Session, store: Store, position: string, flags: Flags): Promise<Rerun> {
  const { terminal, options } = session;
  const { rerunThread } = await import("../../../actors/rerun/rerun-thread.ts");
  const { resolvePosition } = await import("../../../projections/thread-position.ts");
  const { agentOn } = await import("../open-agent.ts");
  const { threadId, version } = await resolvePosition(store.log, position);
  const agentFor = (inner: Store, recorded: { readonly model: string | undefined }) => {
    const model = flags.model ?? recorded.model;
    return agentOn(session, inner, {
      ...(flags.agent !== undefined && { agent: flags.agent }),
      ...(model !== undefined && { model }),
    });
  };
  const rerun = await rerunThread(store, threadId, agentFor, {
    to: version,
    ...(flags.run !== undefined && { runId: flags.run }),
  });
  if (rerun.divergence) session.exitWith(exitCodes.checkFailed);
  if (options.ndjson) await terminal.record(rerun);
  else if (!options.json) await terminal.line(rerunText(rerun, session));
  return rerun;
}

function refoldText(one: Refolded, session: Session): string {
  const { threadId, version, events, checked, stateHash, divergence } = one;
  const { green, red } = session.terminal.colors;
  const folded = `${threadId}@${version}: refolded ${events} events`;
  if (!divergence) {
    const ends = `${checked} run ${checked === 1 ? "end" : "ends"} compared${uncheckedText(one)}`;
    return `${folded}, state hash ${stateHash.slice(0, 12)} ${green("ok")} (${ends})`;
  }
  return [
    `${folded}, ${red("diverged")} at ${divergence.stream}@${divergence.version}, the end of run ${divergence.runId}`,
    `recorded state hash: ${divergence.recorded}`,
    `folded state hash:   ${divergence.folded}`,
    `folded state: ${JSON.stringify(divergence.state, null, 2)}`,
  ].join("\n");
}

function rerunText({ threadId, runs, divergence }: Rerun, session: Session): string {
  const { green } = session.terminal.colors;
  const events = runs.reduce((sum, run) => sum + run.events, 0);
  const cut = runs.filter((run) => run.cut !== undefined).length;
  const upTo = cut === 0 ? "" : `, ${cut} of them up to where they were stopped`;
  const done = `${threadId}: ran ${runs.length} ${runs.length === 1 ? "run" : "runs"} again${upTo}`;
  if (!divergence) return `${done}, the same ${events} events ${green("ok")}`;
  return [done, ...divergenceLines(divergence, session)].join("\n");
}

function divergenceLines(divergence: RerunDivergence, { terminal }: Session): readonly string[] {
  const { red, green, dim } = terminal.colors;
  const { threadId, version, runId, path, values, fields, recorded, rerun, miss } = divergence;
  const of = recorded ?? rerun;
  return [
    `${red("diverged")} at ${threadId}@${version} (run ${runId}): ${of?.type ?? "an event"}, ${path}`,
    ...(fields.length > 0 ? [`fields of the state that differ: ${fields.join(", ")}`] : []),
    red(`- recorded: ${valueText(values.recorded)}`),
    green(`+ rerun:    ${valueText(values.rerun)}`),
    ...(miss ? [miss.message] : []),
    dim(`recorded event: ${JSON.stringify(recorded?.data ?? null)}`),
    dim(`rerun event:    ${JSON.stringify(rerun?.data ?? null)}`),
  ];
}

function valueText(value: unknown): string {
  return value === undefined ? "(nothing)" : JSON.stringify(value);
}

import { existsSync } from "node:fs";
import type { Command } from "@commander-js/extra-typings";
import type { Divergence } from "../../../projections/refold.ts";
import { exitCodes } from "../exit-codes.ts";
import { withThreadsOf } from "../exported-threads.ts";
import type { Session } from "../session.ts";
import { uncheckedText } from "../unchecked-text.ts";

/** One thread that was refolded. */
interface Refolded {
  readonly threadId: string;
  readonly version: number;
  readonly events: number;
  /** Ends of runs whose recorded hash was compared. */
  readonly checked: number;
  /** Ends of runs that had fields which are not known here. */
  readonly unchecked: number;
  readonly unknownFields: readonly string[];
  readonly stateHash: string;
  readonly divergence: Divergence | undefined;
}

/** `threadfold replay` */
export function define(command: Command, session: Session): void {
  command
    .argument("<thread|file>", "a thread, thread@version, or an exported file")
    .option("--to <mark>", "last version: a number, -5, head, run:<id> …")
    .action(async (source, { to }) => {
      const { terminal, options } = session;
      const { refold } = await import("../../../projections/refold.ts");
      const { resolvePosition } = await import("../../../projections/thread-position.ts");
      const refolded: Refolded[] = [];
      const replayOne = async (log: Parameters<typeof resolvePosition>[0], position: string) => {
        const { threadId, stream, version } = await resolvePosition(log, position);
        const reading = await session.readingOf(log, threadId);
        const { state: _, ...result } = await refold(log, reading, stream, version);
        refolded.push({ threadId, version, ...result });
      };
      const mark = to === undefined ? "" : `@${to}`;
      if (existsSync(source)) {
        await withThreadsOf(source, async (store, threadIds) => {
          for (const threadId of threadIds) await replayOne(store.log, `${threadId}${mark}`);
        });
      } else await replayOne((await session.store()).log, `${source}${mark}`);

      if (refolded.some(({ divergence }) => divergence)) session.exitWith(exitCodes.checkFailed);
      if (options.json) return terminal.json({ threads: refolded });
      for (const one of refolded) {
        if (options.ndjson) await terminal.record(one);
        else await terminal.line(lineOf(one, session));
      }
    });
}

function lineOf(one: Refolded, session: Session): string {
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

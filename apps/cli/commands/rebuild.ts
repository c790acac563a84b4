import { type Command, Option } from "@commander-js/extra-typings";
import type { AnyProjection } from "../../../projections/define-projection.ts";
import type { RebuildOptions, RebuildProgress, RebuildResult } from "../../../projections/rebuild.ts";
import { exitCodes } from "../exit-codes.ts";
import { knownProjections, projectionRows } from "../projections-of-session.ts";
import type { Session } from "../session.ts";
import { UsageError } from "../usage-error.ts";

/** `threadfold rebuild` */
export function define(command: Command, session: Session): void {
  command
    .argument("[projections...]", "names of projections, like thread-list")
    .option("--all", "every projection")
    .option("--file <file>", "TypeScript or JavaScript file that exports projections of your own")
    .option("--from <position>", "begin after this position of the log")
    .option("--fresh", "begin anew instead of going on with an interrupted rebuild")
    .option("--dry-run", "fold all events and write nothing")
    .option("--compare", "build beside the live rows and compare, switch nothing")
    .addOption(
      new Option("--on-error <what>", "an event that a projection cannot take")
        .choices(["stop", "skip"] as const)
        .default("stop" as const),
    )
    .action(async (names, { all, file, from, fresh, dryRun, compare, onError }) => {
      const { terminal, options } = session;
      const chosen = choose(await knownProjections(file), names, all);
      const rebuild = await import("../../../projections/rebuild.ts");
      const rows = await projectionRows(session);
      const { log } = await session.store();
      const { registry } = await session.reading();
      const results: object[] = [];
      for (const projection of chosen) {
        const bar = progressLine(session, projection.name);
        const work: RebuildOptions = {
          projection,
          log,
          store: rows,
          registry,
          onError,
          signal: session.signal,
          onProgress: bar.show,
          ...(from !== undefined && { from }),
          ...(fresh && { fresh }),
        };
        if (compare) {
          const { differing, differences, left } = await rebuild.compareRebuild(work);
          bar.end();
          if (differing > 0) session.exitWith(exitCodes.checkFailed);
          const result = {
            name: projection.name,
            checkpoint: left.checkpoint ?? null,
            differing,
            differences,
          };
          results.push(result);
          if (!options.json && !options.ndjson) await printComparison(session, result);
        } else {
          const done = await (dryRun ? rebuild.dryRunRebuild(work) : rebuild.rebuildProjection(work));
          bar.end();
          const result = resultOf(projection, done, dryRun === true);
          results.push(result);
          if (!options.json && !options.ndjson) await terminal.line(lineOf(result));
        }
        if (options.ndjson) await terminal.record(results.at(-1) ?? {});
      }
      if (options.json) await terminal.json({ projections: results });
    });
}

function choose(
  known: readonly AnyProjection[],
  names: readonly string[],
  all: true | undefined,
): readonly AnyProjection[] {
  const list = known.map(({ name }) => name).join(", ");
  if ((names.length === 0) === (all === undefined)) {
    throw new UsageError(`Nothing to rebuild. Name projections, or give --all. There are: ${list}.`);
  }
  if (all) return known;
  return names.map((name) => {
    const found = known.find((projection) => projection.name === name);
    if (!found) throw new UsageError(`There is no projection "${name}". There are: ${list}.`);
    return found;
  });
}

function resultOf({ name, version }: AnyProjection, done: RebuildResult, dryRun: boolean) {
  const { table, rows, skipped, resumedAt } = done;
  return { name, version, dryRun, rows, events: table.events, resumedAt, skipped };
}

function lineOf(result: ReturnType<typeof resultOf>): string {
  const { name, version, dryRun, rows, events, resumedAt, skipped } = result;
  const resumed = resumedAt > 0 ? `, went on at event ${resumedAt}` : "";
  const passed = skipped.length > 0 ? `, ${skipped.length} passed over` : "";
  return `${name}@${version}: ${dryRun ? "would have " : ""}${rows} rows from ${events} events${resumed}${passed}`;
}

async function printComparison(
  { terminal }: Session,
  result: {
    name: string;
    differing: number;
    differences: readonly { key: string; left: unknown; right: unknown }[];
  },
): Promise<void> {
  const { green, red } = terminal.colors;
  if (result.differing === 0) return terminal.line(`${result.name}: ${green("identical")}`);
  await terminal.line(`${result.name}: ${red(`${result.differing} rows differ`)}`);
  const text = (row: unknown) => (row === undefined ? "no row" : JSON.stringify(row));
  for (const { key, left, right } of result.differences) {
    await terminal.line(`  ${key}\n    live:    ${text(left)}\n    rebuilt: ${text(right)}`);
  }
}

const barWidth = 24;

/** A line of progress on a screen; nothing in a pipe. */
function progressLine({ terminal }: Session, name: string) {
  let shown = false;
  return {
    show({ events, total, rate, secondsLeft }: RebuildProgress): void {
      if (!terminal.interactive) return;
      shown = true;
      const share = total ? Math.min(1, events / total) : 0;
      const full = Math.round(share * barWidth);
      const bar =
        total === undefined
          ? ""
          : `${"█".repeat(full)}${"░".repeat(barWidth - full)} ${Math.round(share * 100)} % `;
      const left = secondsLeft === undefined ? "" : `, ${Math.ceil(secondsLeft)} s left`;
      terminal.talk(`\r\u001b[2K${name} ${bar}${events} events, ${Math.round(rate)}/s${left}`);
    },
    end(): void {
      if (shown) terminal.talk("\r\u001b[2K");
    },
  };
}

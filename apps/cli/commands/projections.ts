import type { Command } from "@commander-js/extra-typings";
import { type Column, printRows } from "../columns.ts";
import { knownProjections, projectionRows } from "../projections-of-session.ts";
import type { Session } from "../session.ts";

/** `threadfold projections` */
export function define(command: Command, session: Session): void {
  command
    .option("--file <file>", "TypeScript or JavaScript file that exports projections of your own")
    .option("--run", "keep them up to date until Ctrl-C")
    .option("--catch-up", "bring them up to date, then end")
    .action(async ({ file, run, catchUp }) => {
      const projections = await knownProjections(file);
      const rows = await projectionRows(session);
      if (run || catchUp) {
        const { openProjections } = await import("../../../projections/open-projections.ts");
        const store = await session.store();
        const { registry } = await session.reading();
        const opened = await openProjections(store, { projections, rows, registry });
        session.onEnd(() => opened.close());
        const last = await lastPosition(session);
        if (last !== undefined) await opened.whenCaughtUp(last);
        session.terminal.say(`${projections.length} projections are up to date.`);
        if (run) await untilAborted(session.signal);
      }
      await printStatus(session, await statusOf(session, projections, rows));
    });
}

type Rows = Awaited<ReturnType<typeof projectionRows>>;
type Known = Awaited<ReturnType<typeof knownProjections>>;

async function untilAborted(signal: AbortSignal): Promise<void> {
  if (signal.aborted) return;
  await new Promise<void>((resolve) => signal.addEventListener("abort", () => resolve(), { once: true }));
}

/** Position of the last event of the log, as a subscription from its end reports it. */
async function lastPosition(session: Session): Promise<string | undefined> {
  const { log } = await session.store();
  const over = new AbortController();
  try {
    for await (const item of log.subscribe({ after: "end", signal: over.signal })) {
      if (item.kind === "caught-up") return item.position;
    }
    return undefined;
  } finally {
    over.abort();
  }
}

async function statusOf(session: Session, projections: Known, rows: Rows) {
  const { measureLag } = await import("../../../projections/projection-lag.ts");
  const { log } = await session.store();
  const tables = await rows.tables();
  return Promise.all(
    projections.map(async ({ name, version, types }) => {
      const own = tables.filter((table) => table.name === name);
      const live = own.find(({ state }) => state === "live");
      const building = own.find(({ state }) => state === "building");
      return {
        name,
        version,
        liveVersion: live?.version ?? null,
        events: live?.events ?? 0,
        checkpoint: live?.checkpoint ?? null,
        lag: await measureLag(log, live?.checkpoint, types),
        skipped: live ? await rows.skipped(live.table) : [],
        rebuilding: building ? { version: building.version, events: building.events } : null,
      };
    }),
  );
}

type Status = Awaited<ReturnType<typeof statusOf>>[number];

async function printStatus(session: Session, found: readonly Status[]): Promise<void> {
  const { terminal, options } = session;
  if (options.json) return terminal.json({ projections: found });
  if (options.ndjson) {
    for (const one of found) await terminal.record(one);
    return;
  }
  const { red, yellow } = terminal.colors;
  const columns: Column<Status>[] = [
    { head: "projection", text: ({ name }) => name },
    { head: "version", text: ({ version, liveVersion }) => versionText(version, liveVersion), right: true },
    { head: "events", text: ({ events }) => String(events), right: true },
    {
      head: "behind",
      text: ({ lag }) =>
        lag.events === 0 ? "0" : `${lag.events}${lag.more ? "+" : ""} (${Math.round(lag.seconds)} s)`,
      paint: (text, { lag }) => (lag.events > 0 ? yellow(text) : text),
      right: true,
    },
    {
      head: "skipped",
      text: ({ skipped }) => String(skipped.length),
      paint: (text, { skipped }) => (skipped.length > 0 ? red(text) : text),
      right: true,
    },
    {
      head: "rebuild",
      text: ({ rebuilding }) =>
        rebuilding ? `version ${rebuilding.version}, ${rebuilding.events} events` : "",
    },
  ];
  await printRows(terminal, columns, found);
  for (const { name, skipped } of found) {
    for (const { type, stream, version, position, error } of skipped) {
      terminal.say(`${name} passed over ${type} at position ${position} (${stream}@${version}): ${error}`);
    }
  }
}

function versionText(version: number, live: number | null): string {
  if (live === null) return `${version} (not built)`;
  return live === version ? String(version) : `${live} → ${version}`;
}

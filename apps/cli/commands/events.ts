import type { Command } from "@commander-js/extra-typings";
import type { RecordedEvent } from "../../../events/envelope.ts";
import type { EventLog } from "../../../events/log/event-log.ts";
import { type Column, printRows } from "../columns.ts";
import { eventText } from "../event-line.ts";
import type { Session } from "../session.ts";
import { shownTime } from "../shown-time.ts";
import { wholeNumber } from "../whole-number.ts";

interface Filter {
  readonly types: readonly string[] | undefined;
  readonly runId: string | undefined;
  readonly grep: string | undefined;
  readonly values: ((event: RecordedEvent) => readonly unknown[]) | undefined;
}

/** An event with what its `--path` selects. */
interface Found {
  readonly event: RecordedEvent;
  readonly values: readonly unknown[] | undefined;
}

const list = (text: string, before: readonly string[] | undefined) => [...(before ?? []), ...text.split(",")];

/** `threadfold events` */
export function define(command: Command, session: Session): void {
  command
    .argument("<thread>", "thread id, or the beginning of one")
    .option("--type <types>", "only these types, separated by commas", list)
    .option("--run <id>", "only events of this run")
    .option("--from <mark>", "first version: a number, -5, head, run:<id>:start …")
    .option("--to <mark>", "last version")
    .option("--grep <text>", "only events whose JSON holds this text, in any case")
    .option("--path <jsonpath>", "print what stands at this path in each event, and only events that have it")
    .option("--limit <n>", "events at most", wholeNumber)
    .option("--reverse", "newest first")
    .option("-f, --follow", "wait for new events and show them")
    .action(async (thread, options) => {
      const { parsePosition, resolvePosition } = await import("../../../projections/thread-position.ts");
      const log = await session.shownLog();
      const { stream, threadId, head } = await resolvePosition(log, thread);
      const versionOf = async (mark: string | undefined, otherwise: number) =>
        mark === undefined ? otherwise : (await resolvePosition(log, `${threadId}@${mark}`)).version;
      const named =
        parsePosition(thread).mark.kind === "head" ? head : (await resolvePosition(log, thread)).version;
      const from = await versionOf(options.from, 1);
      const to = await versionOf(options.to, named);
      const filter: Filter = {
        types: options.type,
        runId: options.run === undefined ? undefined : await runIdOf(log, stream, threadId, options.run),
        grep: options.grep?.toLocaleLowerCase(),
        values: options.path === undefined ? undefined : await pathReader(options.path),
      };
      const print = printer(session, threadId);
      const limit = options.limit ?? Number.POSITIVE_INFINITY;
      let given = 0;
      const range = { from: Math.max(1, from), to, backwards: options.reverse === true };
      const read = log.read(stream, { ...range, ...(filter.types && { types: filter.types }) });
      let last: string | undefined;
      if (to >= range.from) {
        for await (const page of read) {
          const found = page.flatMap((event) => matching(event, filter)).slice(0, limit - given);
          given += found.length;
          await print.rows(found);
          last = page.at(-1)?.position ?? last;
          if (given >= limit || session.signal.aborted) break;
        }
      }
      if (options.follow && given < limit && !options.reverse) {
        // With a filter the last page may have ended before the head.
        for await (const page of log.read(stream, { from: head, to: head })) last = page[0]?.position ?? last;
        const items = log.subscribe({
          stream,
          signal: session.signal,
          ...(last !== undefined && { after: last }),
        });
        for await (const item of items) {
          if (item.kind !== "event" || item.event.version <= head) continue;
          if (filter.types && !filter.types.includes(item.event.type)) continue;
          const found = matching(item.event, filter);
          given += found.length;
          await print.rows(found);
          if (given >= limit) break;
        }
      }
      await print.end();
    });
}

async function runIdOf(log: EventLog, stream: string, threadId: string, text: string): Promise<string> {
  const { resolvePosition } = await import("../../../projections/thread-position.ts");
  const { version } = await resolvePosition(log, `${threadId}@run:${text}:start`);
  for await (const page of log.read(stream, { from: version + 1, to: version + 1 })) {
    const { runId } = (page[0]?.data ?? {}) as { runId?: string };
    if (runId !== undefined) return runId;
  }
  return text;
}

async function pathReader(path: string): Promise<(event: RecordedEvent) => readonly unknown[]> {
  const { compilePath } = await import("../../../projections/json-path.ts");
  const compiled = compilePath(path);
  return (event) => compiled.values(event as unknown as Readonly<Record<string, unknown>>);
}

function matching(event: RecordedEvent, { runId, grep, values }: Filter): Found[] {
  if (
    runId !== undefined &&
    event.metadata.runId !== runId &&
    (event.data as { runId?: string })?.runId !== runId
  )
    return [];
  if (grep !== undefined && !JSON.stringify(event).toLocaleLowerCase().includes(grep)) return [];
  const selected = values?.(event);
  return selected && selected.length === 0 ? [] : [{ event, values: selected }];
}

interface Printer {
  rows(found: readonly Found[]): Promise<void>;
  end(): Promise<void>;
}

function printer(session: Session, threadId: string): Printer {
  const { terminal, options } = session;
  if (options.json) {
    const all: unknown[] = [];
    return {
      async rows(found) {
        all.push(...found.map(({ event, values }) => (values ? { version: event.version, values } : event)));
      },
      end: () => terminal.json({ threadId, events: all }),
    };
  }
  const utc = options.utc === true || !terminal.screen;
  const { dim, cyan, bold } = terminal.colors;
  const columns: Column<Found>[] = [
    { head: "version", text: ({ event }) => String(event.version), right: true, paint: bold, least: 7 },
    { head: "time", text: ({ event }) => shownTime(event.recordedAt, { utc }), paint: dim, least: 12 },
    { head: "type", text: ({ event }) => event.type, paint: cyan, least: 20 },
    { head: "by", text: ({ event }) => event.metadata.by, width: 28, paint: dim, least: 22 },
    { head: "", text: ({ event }) => eventText(event), width: Math.max(20, terminal.width - 78) },
  ];
  let begun = false;
  return {
    async rows(found) {
      if (options.ndjson) {
        for (const { event, values } of found) {
          await terminal.record(values ? { version: event.version, values } : event);
        }
        return;
      }
      const plain = found.filter(({ values }) => values === undefined);
      if (plain.length > 0) await printRows(terminal, columns, plain, { head: !begun });
      begun ||= plain.length > 0;
      for (const { values = [] } of found)
        for (const value of values) await terminal.line(JSON.stringify(value));
    },
    end: async () => undefined,
  };
}

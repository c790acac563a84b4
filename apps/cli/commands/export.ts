import { createWriteStream, statSync } from "node:fs";
import { rename, rm } from "node:fs/promises";
import { pipeline } from "node:stream/promises";
import { type Command, Option } from "@commander-js/extra-typings";
import type { EventLog } from "../../../events/log/event-log.ts";
import type { EventFilter } from "../../../projections/select-events.ts";
import { OutputError } from "../output-error.ts";
import type { Session } from "../session.ts";
import { UsageError } from "../usage-error.ts";

const list = (text: string, before: readonly string[] | undefined) => [...(before ?? []), ...text.split(",")];

/** `threadfold export` */
export function define(command: Command, session: Session): void {
  command
    .argument("[threads...]", "threads to export")
    .option("--all", "every thread of the store")
    .option("--blobs", "with the images and long texts that events refer to")
    .option("-o, --output <file>", "write to a file (default: stdout)")
    .addOption(
      new Option("--format <format>", "csv: one row an event, with its data as JSON")
        .choices(["ndjson", "csv"] as const)
        .default("ndjson" as const),
    )
    .option("--type <types>", "only these types, separated by commas", list)
    .option("--by <emitters>", "only from these: user, tool, tool:bash, middleware:title …", list)
    .option("--run <id>", "only events of this run")
    .option("--since <time>", "only events recorded then or later (ISO 8601)")
    .option("--until <time>", "only events recorded before")
    .action(async (threads, { all, blobs, output, format, type, by, run, since, until }) => {
      const { terminal } = session;
      if ((threads.length === 0) === (all === undefined)) {
        throw new UsageError(
          "Nothing to export. Name threads, or give --all. Like: threadfold export --all > threads.ndjson",
        );
      }
      const filter: EventFilter = {
        ...(type && { types: type }),
        ...(by && { by }),
        ...(run !== undefined && { runId: run }),
        ...(since !== undefined && { since: isoTime("--since", since) }),
        ...(until !== undefined && { until: isoTime("--until", until) }),
      };
      const isPart = Object.keys(filter).length > 0 || format === "csv";
      if (isPart && blobs) {
        throw new UsageError("--blobs belongs to whole threads. Leave out the filters and --format csv.");
      }
      const { exportThreads } = await import("../../../projections/thread-export.ts");
      const { resolveThread } = await import("../../../projections/thread-position.ts");
      const { allThreads } = await import("../../../projections/verify.ts");
      const store = await session.store();
      const ids: string[] = [];
      for (const thread of threads) ids.push(await resolveThread(store.log, thread));
      if (all) for await (const id of allThreads(store.log)) ids.push(id);
      const lines = isPart
        ? selectedLines(await session.shownLog(), ids, filter, format)
        : exportThreads(store.log, ids, blobs ? { blobs: store.blobs } : {});
      const count = await writeLines(session, lines, output);
      const what = `${ids.length} ${ids.length === 1 ? "thread" : "threads"} in ${count} lines`;
      terminal.say(
        isPart
          ? `Exported what fits of ${what}; it is no whole chain.`
          : `Exported ${what}${blobs ? "" : "; files and long texts beside the log are left out (--blobs)"}.`,
      );
    });
}

/** @throws {UsageError} */
function isoTime(option: string, text: string): string {
  const time = new Date(text);
  if (/^\d{4}-\d{2}-\d{2}/.test(text) && !Number.isNaN(time.getTime())) return time.toISOString();
  throw new UsageError(`${option} ${text} is no ISO time. Write it like 2026-03-01 or 2026-03-01T12:00:00Z.`);
}

async function* selectedLines(
  log: EventLog,
  threadIds: readonly string[],
  filter: EventFilter,
  format: "ndjson" | "csv",
): AsyncGenerator<string> {
  const { csvHead, csvLine, selectEvents } = await import("../../../projections/select-events.ts");
  if (format === "csv") yield csvHead;
  for (const threadId of threadIds) {
    for await (const event of selectEvents(log, threadId, filter)) {
      yield format === "csv" ? csvLine(event) : JSON.stringify(event);
    }
  }
}

async function writeLines(
  { terminal, signal }: Session,
  lines: AsyncIterable<string>,
  output: string | undefined,
): Promise<number> {
  let count = 0;
  if (output === undefined) {
    for await (const line of lines) {
      await terminal.line(line);
      count += 1;
      signal.throwIfAborted();
    }
    return count;
  }
  // Devices and pipes are written to as they are.
  const isWhole = statSync(output, { throwIfNoEntry: false })?.isFile() ?? true;
  const path = isWhole ? `${output}.part` : output;
  try {
    await pipeline(async function* () {
      for await (const line of lines) {
        count += 1;
        yield `${line}\n`;
      }
    }, createWriteStream(path));
    if (isWhole) await rename(path, output);
  } catch (error) {
    if (isWhole) await rm(path, { force: true }).catch(() => undefined);
    const { code, syscall } = error as NodeJS.ErrnoException;
    if (syscall === undefined) throw error;
    throw new OutputError(`${output} cannot be written (${code}).`, { cause: error });
  }
  return count;
}

import type { Command } from "@commander-js/extra-typings";
import type { StatePath } from "../../../projections/json-path.ts";
import type { State } from "../../../reducers/thread-state.ts";
import type { Session } from "../session.ts";
import { valuesText } from "./blame.ts";

/** `threadfold watch-path` */
export function define(command: Command, session: Session): void {
  command
    .argument("<thread>", "thread, or thread@version to end there")
    .argument("<jsonpath>", "field or JSONPath, evaluated at every version")
    .option("--every", "a row for every version, not only where it changes")
    .option("-f, --follow", "wait for new events and go on")
    .action(async (thread, path, { every, follow }) => {
      const { terminal, options } = session;
      const { compilePath } = await import("../../../projections/json-path.ts");
      const { resolvePosition } = await import("../../../projections/thread-position.ts");
      const { resolveLineage } = await import("../../../projections/lineage.ts");
      const { createFoldPages } = await import("../../../projections/fold-pages.ts");
      const { threadIdOf } = await import("../../../events/envelope.ts");
      const compiled = compilePath(path);
      const log = await session.shownLog();
      const { stream, threadId, version, head } = await resolvePosition(log, thread);
      const { registry, reducer } = await session.readingOf(log, threadId);
      const print = createPrinter(session, compiled, every === true);
      let state: State = reducer.initial;
      const lineage = await resolveLineage(log, stream, version);
      for await (const { segment, events } of createFoldPages(log, registry)(lineage)) {
        for (const event of events) {
          state = reducer.apply(state, event);
          await print.row(threadIdOf(segment.stream) ?? threadId, event, state);
        }
      }
      if (follow && version === head) {
        const reader = await session.readerOf(threadId);
        let last: string | undefined;
        for await (const page of log.read(stream, { from: head, to: head })) last = page[0]?.position;
        const from = { stream, signal: session.signal, ...(last !== undefined && { after: last }) };
        for await (const item of log.subscribe(from)) {
          if (item.kind !== "event" || item.event.version <= head) continue;
          // After a rewind the state is not that of the event before.
          const now = await reader.stateAt(threadId, item.event.version);
          await print.row(threadId, item.event, now);
        }
      }
      if (options.json) await terminal.json({ threadId, path: compiled.text, versions: print.rows });
    });
}

interface Printer {
  readonly rows: readonly object[];
  row(
    threadId: string,
    event: { readonly version: number; readonly type: string },
    state: State,
  ): Promise<void>;
}

function createPrinter(session: Session, path: StatePath, every: boolean): Printer {
  const { terminal, options } = session;
  const { bold, dim } = terminal.colors;
  const rows: object[] = [];
  let before = "[]";
  return {
    rows,
    async row(threadId, { version, type }, state) {
      const values = path.values(state);
      const text = JSON.stringify(values);
      if (!every && text === before) return;
      before = text;
      const row = { threadId, version, type, values };
      if (options.json) rows.push(row);
      else if (options.ndjson) await terminal.record(row);
      else await terminal.line(`${bold(`${threadId}@${version}`)}\t${dim(type)}\t${valuesText(values)}`);
    },
  };
}

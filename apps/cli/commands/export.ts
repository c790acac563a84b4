import { once } from "node:events";
import { createWriteStream } from "node:fs";
import { finished } from "node:stream/promises";
import type { Command } from "@commander-js/extra-typings";
import type { Session } from "../session.ts";
import { UsageError } from "../usage-error.ts";

/** `threadfold export` */
export function define(command: Command, session: Session): void {
  command
    .argument("[threads...]", "threads to export")
    .option("--all", "every thread of the store")
    .option("--blobs", "with the images and long texts that events refer to")
    .option("-o, --output <file>", "write to a file (default: stdout)")
    .action(async (threads, { all, blobs, output }) => {
      const { terminal } = session;
      if ((threads.length === 0) === (all === undefined)) {
        throw new UsageError(
          "Nothing to export. Name threads, or give --all. Like: threadfold export --all > threads.ndjson",
        );
      }
      const { exportThreads } = await import("../../../projections/thread-export.ts");
      const { resolveThread } = await import("../../../projections/thread-position.ts");
      const { allThreads } = await import("../../../projections/verify.ts");
      const store = await session.store();
      const ids: string[] = [];
      for (const thread of threads) ids.push(await resolveThread(store.log, thread));
      if (all) for await (const id of allThreads(store.log)) ids.push(id);
      const lines = exportThreads(store.log, ids, blobs ? { blobs: store.blobs } : {});
      let count = 0;
      if (output === undefined) {
        for await (const line of lines) {
          await terminal.line(line);
          count += 1;
          session.signal.throwIfAborted();
        }
      } else {
        const file = createWriteStream(output);
        for await (const line of lines) {
          if (!file.write(`${line}\n`)) await once(file, "drain");
          count += 1;
        }
        file.end();
        await finished(file);
      }
      terminal.say(`Exported ${ids.length} ${ids.length === 1 ? "thread" : "threads"} in ${count} lines.`);
    });
}

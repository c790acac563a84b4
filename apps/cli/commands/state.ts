import type { Command } from "@commander-js/extra-typings";
import { exitCodes } from "../exit-codes.ts";
import type { Session } from "../session.ts";

/** `threadfold state` */
export function define(command: Command, session: Session): void {
  command
    .argument("<position>", "thread, or thread@version")
    .option("--path <jsonpath>", "only what stands at this path, one JSON value a line")
    .action(async (position, { path }) => {
      const { terminal, options } = session;
      const { resolvePosition } = await import("../../../projections/thread-position.ts");
      const { log } = await session.store();
      const { threadId, version } = await resolvePosition(log, position);
      const state = await (await session.readerOf(threadId)).stateAt(threadId, version);
      const at = { threadId, version };
      if (path === undefined) {
        if (options.json) return terminal.json({ ...at, state });
        if (options.ndjson) return terminal.record({ ...at, state });
        await terminal.line(JSON.stringify(state, null, 2));
        return;
      }
      const { compilePath } = await import("../../../projections/json-path.ts");
      const values = compilePath(path).values(state);
      if (values.length === 0) session.exitWith(exitCodes.notFound);
      if (options.json) return terminal.json({ ...at, path, values });
      if (options.ndjson) return terminal.record({ ...at, path, values });
      if (values.length === 0) terminal.say(`Nothing stands at ${path} in ${threadId}@${version}.`);
      for (const value of values) await terminal.line(JSON.stringify(value, null, terminal.screen ? 2 : 0));
    });
}

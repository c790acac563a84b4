import { type Command, Option } from "@commander-js/extra-typings";
import type { Delta } from "jsondiffpatch";
import type { State } from "../../../reducers/thread-state.ts";
import { exitCodes } from "../exit-codes.ts";
import type { Session } from "../session.ts";

const formats = ["pretty", "patch", "names"] as const;

/** `threadfold diff` */
export function define(command: Command, session: Session): void {
  command
    .argument("<from>", "position, like thread@3")
    .argument("<to>", "position; @7 means the same thread")
    .addOption(new Option("--format <format>", "how to show it").choices(formats).default("pretty" as const))
    .option("--path <jsonpath>", "only what stands there, like title or $.todos[0].status")
    .option("--exit-code", "end with 4 when the two differ")
    .action(async (fromText, toText, { format, exitCode, path }) => {
      const { terminal, options } = session;
      const { parsePosition, resolvePosition } = await import("../../../projections/thread-position.ts");
      const { changedNames, diffStates } = await import("../../../projections/diff.ts");
      const { toJsonPatch } = await import("../../../projections/json-patch.ts");
      const { log } = await session.store();
      const from = await resolvePosition(log, fromText);
      const other = toText.startsWith("@") ? `${parsePosition(fromText).thread}${toText}` : toText;
      const to = await resolvePosition(log, other);
      const stateOf = async ({ threadId, version }: typeof from) =>
        (await session.readerOf(threadId)).stateAt(threadId, version);
      const { compilePath } = await import("../../../projections/json-path.ts");
      const compiled = path === undefined ? undefined : compilePath(path);
      const shown = (state: State): State =>
        compiled ? { [compiled.text]: compiled.values(state) as State[string] } : state;
      const [before, after] = [shown(await stateOf(from)), shown(await stateOf(to))];
      const names = changedNames(before, after);
      if (exitCode && names.length > 0) session.exitWith(exitCodes.checkFailed);
      const delta = diffStates(before, after);
      const patch = toJsonPatch(delta);
      const places = { from: place(from), to: place(to) };
      if (options.json) return terminal.json({ ...places, fields: names, patch });
      if (options.ndjson) return terminal.record({ ...places, fields: names, patch });
      if (format === "names") {
        for (const name of names) await terminal.line(name);
        return;
      }
      if (format === "patch") return terminal.line(JSON.stringify(patch, null, 2));
      if (delta === undefined) {
        terminal.say(`${places.from} and ${places.to} have the same state.`);
        return;
      }
      await terminal.line(await pretty(delta as Delta, session));
    });
}

function place({ threadId, version }: { readonly threadId: string; readonly version: number }): string {
  return `${threadId}@${version}`;
}

/** jsondiffpatch's own form for terminals: `+`, `-` and `~` in front of each line. */
async function pretty(delta: Delta, session: Session): Promise<string> {
  const { default: ConsoleFormatter } = await import("jsondiffpatch/formatters/console");
  const formatter = new ConsoleFormatter();
  const { green, red, dim, cyan } = session.terminal.colors;
  const plain = (text: string) => text;
  Object.assign(formatter, {
    brushes: {
      added: green,
      deleted: red,
      unchanged: dim,
      unchangedPlain: plain,
      movedestination: cyan,
      moved: cyan,
      error: red,
      textDiffLine: dim,
    },
  });
  // Without the state that it starts from only what changed is shown.
  return formatter.format(delta) ?? "";
}

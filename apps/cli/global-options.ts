import { type Command, Option } from "@commander-js/extra-typings";
import type { ColorChoice } from "./terminal.ts";

/** Options that every command takes. */
export interface GlobalOptions {
  readonly store?: string;
  readonly config?: string;
  readonly json?: true;
  readonly ndjson?: true;
  readonly color: ColorChoice;
  readonly utc?: true;
  readonly debug?: true;
}

/** Global options that take a value; their values are no command names. */
export const globalsWithValue = new Set(["--store", "--config", "--color"]);

/** Adds the options that every command takes. */
export function addGlobalOptions(command: Command): void {
  command.addOption(
    new Option("--store <url>", "where the threads are: sqlite:<path> or memory:").env("THREADFOLD_STORE"),
  );
  command.addOption(new Option("--config <file>", "config file (default: threadfold.config.* found upward)"));
  command.addOption(new Option("--json", "print one JSON document"));
  command.addOption(new Option("--ndjson", "print one JSON record a line"));
  command.addOption(
    new Option("--color <when>", "colours").choices(["auto", "always", "never"]).default("auto"),
  );
  command.addOption(new Option("--utc", "times as ISO 8601 in UTC"));
  command.addOption(new Option("--debug", "stack traces of errors"));
}

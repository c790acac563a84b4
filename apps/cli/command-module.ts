import type { Command } from "@commander-js/extra-typings";
import type { Session } from "./session.ts";

/** What a file in `commands/` exports. */
export interface CommandModule {
  /** Adds arguments, options and the action to a command that has its name, summary and the global options. */
  define(command: Command, session: Session): void;
}

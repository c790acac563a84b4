import { type Command, Option } from "@commander-js/extra-typings";
import type { LifecycleTransition } from "../../../actors/lifecycle.ts";
import type { Session } from "../session.ts";

const formats = ["ascii", "mermaid", "json"] as const;

/** `threadfold machine` */
export function define(command: Command, session: Session): void {
  command
    .addOption(new Option("--format <format>", "how to show it").choices(formats).default("ascii" as const))
    .action(async ({ format }) => {
      const { terminal, options } = session;
      const { threadMachineDefinition: machine } = await import("../../../actors/lifecycle.ts");
      if (format === "json" || options.json) return terminal.json(machine);
      if (options.ndjson) {
        for (const transition of machine.transitions) await terminal.record(transition);
        return;
      }
      if (format === "mermaid") return terminal.line(mermaid(machine.initial, machine.transitions));
      await terminal.line(ascii(machine.states, machine.transitions));
    });
}

function mermaid(initial: string, transitions: readonly LifecycleTransition[]): string {
  return [
    "stateDiagram-v2",
    `  [*] --> ${initial}`,
    ...transitions.map(({ from, to, when }) => `  ${from} --> ${to}: ${when}`),
  ].join("\n");
}

function ascii(states: readonly string[], transitions: readonly LifecycleTransition[]): string {
  const width = Math.max(...states.map((state) => state.length));
  return states
    .map((state) => {
      const ways = transitions.filter(({ from }) => from === state);
      const lines = ways.map(({ to, when }) => `  → ${to.padEnd(width)}  ${when}`);
      return [state, ...(lines.length > 0 ? lines : ["  (end)"])].join("\n");
    })
    .join("\n");
}

import type { Command } from "@commander-js/extra-typings";
import type { Session } from "../session.ts";

/** `threadfold config` */
export function define(command: Command, session: Session): void {
  command.action(async () => {
    const { terminal, options } = session;
    const { withoutCredentials } = await import("../../../events/without-credentials.ts");
    const { file, store, model, agent } = await session.settings();
    const shown = {
      file: file ?? null,
      store: { ...store, value: withoutCredentials(store.value) },
      model,
      agent: { ...agent, value: agent.value ?? null },
    };
    if (options.json) return terminal.json(shown);
    if (options.ndjson) return terminal.record(shown);
    const { dim } = terminal.colors;
    await terminal.line(`file   ${shown.file ?? "(none found)"}`);
    await terminal.line(`store  ${shown.store.value} ${dim(`(${store.from})`)}`);
    await terminal.line(`model  ${model.value} ${dim(`(${model.from})`)}`);
    await terminal.line(`agent  ${shown.agent.value ?? "(built-in)"} ${dim(`(${agent.from})`)}`);
  });
}

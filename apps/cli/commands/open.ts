import type { Command } from "@commander-js/extra-typings";
import type { Agent } from "../../../actors/agent-contract.ts";
import type { Store } from "../../../events/store.ts";
import { refuseDamaged } from "../exported-threads.ts";
import { startOnFreePort } from "../free-port.ts";
import { agentOn } from "../open-agent.ts";
import { openBrowser } from "../open-browser.ts";
import { portNumber } from "../port-number.ts";
import type { Session } from "../session.ts";
import { stopSignal } from "../stop-signal.ts";
import { FileNotFoundError } from "../usage-error.ts";

/** `threadfold open` */
export function define(command: Command, session: Session): void {
  command
    .argument("<file>", "export (NDJSON, also .gz), or a LangGraph thread as JSON")
    .option("--port <n>", "port; 0 takes a free one (default: 4270, or the next free one)", portNumber)
    .option("--no-browser", "only print the address")
    .addHelpText(
      "after",
      "\nThe file is checked and shown as it is, read only: nothing is imported, nothing is written. BROWSER names another browser.",
    )
    .action(async (file, flags) => {
      const { terminal, options, signal } = session;
      const { openExport } = await import("../../../projections/open-export.ts");
      const opened = await openExport(file).catch((cause: NodeJS.ErrnoException) => {
        if (cause.code === "ENOENT" || cause.code === "EISDIR") throw new FileNotFoundError(file);
        return refuseDamaged(cause);
      });
      session.onEnd(() => opened.close());
      // Read models are kept in memory, not beside the file.
      const store: Store = { ...opened, url: "memory:" };
      const agent = await openReader(session, store, opened.threadIds);
      session.onEnd(() => agent.close());
      const { startServer } = await import("../../server/index.ts");
      const served = { agents: { agent }, store, readOnly: true } as const;
      const running = await (flags.port === undefined
        ? startOnFreePort(startServer, served)
        : startServer({ ...served, port: flags.port }));
      session.onEnd(() => running.stop());
      const [first] = opened.threadIds;
      const url = first === undefined ? running.url : `${running.url}/?thread=${encodeURIComponent(first)}`;
      if (options.ndjson) await terminal.record({ url, threads: opened.threadIds });
      else if (options.json) await terminal.json({ url, threads: opened.threadIds });
      else await terminal.line(`Showing ${file}, read only, on ${url} . Ctrl-C stops.`);
      if (flags.browser) openBrowser(url);
      await stopSignal(signal);
    });
}

/** The configured agent, or one that reads what Threadfold knows and takes other fields as they were set last. */
async function openReader(session: Session, store: Store, threadIds: readonly string[]): Promise<Agent> {
  if ((await session.settings()).agent.value !== undefined) return agentOn(session, store, {});
  const { readerAgent } = await import("../../server/reader-agent.ts");
  return readerAgent(store, threadIds);
}

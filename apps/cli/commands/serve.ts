import { resolve } from "node:path";
import { type Command, Option } from "@commander-js/extra-typings";
import type { Agent } from "../../../actors/agent-contract.ts";
import type { StartServerOptions } from "../../server/index.ts";
import { startOnFreePort } from "../free-port.ts";
import { openAgent } from "../open-agent.ts";
import { openBrowser } from "../open-browser.ts";
import { portNumber } from "../port-number.ts";
import type { Session } from "../session.ts";
import { stopSignal } from "../stop-signal.ts";
import { UsageError } from "../usage-error.ts";

const collect = (value: string, before: readonly string[]) => [...before, value];

/** Milliseconds after which others take over the queued runs of a server that fell silent. */
const leaseMs = 15_000;
const levels = ["silent", "error", "warn", "info", "debug"] as const;

/** `threadfold serve` */
export function define(command: Command, session: Session): void {
  command
    .option("--host <address>", "address to bind (default: 127.0.0.1; others need tokens)")
    .option("--port <n>", "port; 0 takes a free one (default: 4270, or the next free one)", portNumber)
    .option("--agent <file>", "file that exports an agent, or <name>=<file>; may come again", collect, [])
    .option("--model <name>", "model of the agent")
    .option("--read-only", "nothing can be changed, whoever asks")
    .option("--open", "show the page in the browser")
    .option("--cors <origin>", "web page that may call the server; may come again", collect, [])
    .addOption(
      new Option(
        "--multitask <strategy>",
        "what a run does on a busy thread when the request does not say",
      ).choices(["reject", "enqueue", "interrupt", "rollback"] as const),
    )
    .option("--work", "work on queued runs, too, as threadfold worker does")
    .addOption(
      new Option("--log <level>", "what is logged, as JSON on stderr")
        .choices(levels)
        .default("warn" as const),
    )
    .addHelpText(
      "after",
      "\nTHREADFOLD_TOKEN: a token that every request must carry. More tokens, with scopes and owners: `server.tokens` of the config file.",
    )
    .action(async (flags) => {
      const { server, agents } = await session.settings();
      const store = await session.store();
      const named = await openAgents(session, flags.agent, agents, flags.model, flags.work === true);
      const { hashToken, startServer } = await import("../../server/index.ts");
      const { pino } = await import("pino");
      const { THREADFOLD_TOKEN: token } = process.env;
      const given = server as Partial<StartServerOptions>;
      const options: StartServerOptions = {
        ...given,
        ...(flags.host !== undefined && { host: flags.host }),
        ...(flags.port !== undefined && { port: flags.port }),
        ...(flags.cors.length > 0 && { corsOrigins: flags.cors }),
        ...(flags.multitask && { multitask: flags.multitask }),
        ...(flags.readOnly && { readOnly: true }),
        ...(token && {
          tokens: [
            ...(given.tokens ?? []),
            { name: "THREADFOLD_TOKEN", sha256: hashToken(token), scope: "admin" as const },
          ],
        }),
        agents: named,
        store,
        logger: pino({ level: flags.log }, pino.destination(2)),
      };
      const running = await (options.port === undefined
        ? startOnFreePort(startServer, options)
        : startServer(options));
      session.onEnd(() => running.stop());
      if (flags.work) await workFor(session, Object.values(named));
      const { terminal, signal } = session;
      const { json, ndjson } = session.options;
      if (ndjson) await terminal.record({ url: running.url, agents: Object.keys(named) });
      else if (json) {
        await terminal.json({ url: running.url, agents: Object.keys(named) });
      } else {
        await terminal.line(`Serving ${Object.keys(named).join(", ")} on ${running.url}. Ctrl-C stops.`);
      }
      if (flags.open) openBrowser(running.url);
      await stopSignal(signal);
    });
}

async function openAgents(
  session: Session,
  flags: readonly string[],
  configured: Readonly<Record<string, string>>,
  model: string | undefined,
  work: boolean,
): Promise<Record<string, Agent>> {
  const files = flags.length > 0 ? Object.fromEntries(flags.map(namedFile)) : configured;
  const ofModel = { ...(model !== undefined && { model }), ...(work && { worker: { leaseMs } }) };
  const agents: Record<string, Agent> = {};
  for (const [name, file] of Object.entries(files)) {
    agents[name] = await openAgent(session, { agent: file, ...ofModel });
  }
  if (Object.keys(agents).length > 0) return agents;
  const chosen = model ?? (await session.settings()).model.value;
  // Whoever reaches the port could run commands otherwise.
  const approve = /^(?:builtin|replay):/.test(chosen) ? "all" : "ask";
  return { agent: await openAgent(session, { ...ofModel, approve, checkModel: true }) };
}

async function workFor(session: Session, agents: readonly Agent[]): Promise<void> {
  const { createWorker } = await import("../../../actors/worker.ts");
  for (const agent of agents) {
    const onError = (error: unknown) =>
      session.terminal.say(error instanceof Error ? error.message : String(error));
    const worker = createWorker({ agent, leaseMs, onError });
    session.onEnd(() => worker.stop());
  }
}

function namedFile(text: string): readonly [string, string] {
  const match = /^(?:([\w-]{1,64})=)?(.+)$/.exec(text);
  if (!match?.[2])
    throw new UsageError(`"${text}" names no agent file. Write --agent <file> or --agent <name>=<file>.`);
  return [match[1] ?? "agent", resolve(match[2])];
}

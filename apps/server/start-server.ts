import type { AddressInfo } from "node:net";
import { setTimeout as pause } from "node:timers/promises";
import { serve } from "@hono/node-server";
import { type Logger, pino } from "pino";
import type { Agent } from "../../actors/agent-contract.ts";
import { threadStream } from "../../events/envelope.ts";
import { withRedaction } from "../../events/log/redacting-log.ts";
import type { Store } from "../../events/store.ts";
import packageJson from "../../package.json" with { type: "json" };
import { type OpenProjections, openProjections } from "../../projections/open-projections.ts";
import { threadList } from "../../projections/thread-list.ts";
import { openAssistants } from "./compat/assistant-records.ts";
import { eventAt } from "./compat/checkpoint-id.ts";
import { adoptRun } from "./compat/launch-run.ts";
import { createRunDirectory, RunDroppedError, RunPostponedError } from "./compat/run-directory.ts";
import { createRunLine } from "./compat/run-line.ts";
import { findRun } from "./compat/run-records.ts";
import { createApp } from "./create-app.ts";
import { createMetrics } from "./metrics.ts";
import { createOpenedFiles } from "./opened-files.ts";
import { createRedactedReads } from "./redacted-reads.ts";
import type { Served } from "./served.ts";
import { readServerConfig, ServerConfigError, type ServerConfigInput } from "./server-config.ts";
import { createTakeOver } from "./take-over.ts";

export interface StartServerOptions extends ServerConfigInput {
  /** Agents by the name under which clients ask for them. They use `store`. */
  readonly agents: Readonly<Record<string, Agent>>;
  /** The open store of the agents; it stays open. */
  readonly store: Store;
  /** Default: silent. */
  readonly logger?: Logger;
  /** Folder of the built page; default: the one that comes with the package. */
  readonly pageFolder?: string;
}

/** A server that takes requests. */
export interface RunningServer {
  /** `http://127.0.0.1:4270` */
  readonly url: string;
  readonly port: number;
  /**
   * Takes no more runs, lets open ones go on for the configured time, cancels the rest, ends all streams, and resolves
   * when the port is free. Agents and store stay open.
   */
  stop(): Promise<void>;
}

/**
 * Serves agents over HTTP: the API of LangGraph's server for its clients, and `/log/v1`.
 *
 * @throws {ServerConfigError} a setting is not valid, or the port is taken
 * @example
 * const store = await openStore("sqlite:threads.db");
 * const server = await startServer({ agents: { agent: createAgent({ model, store }) }, store, port: 0 });
 * new Client({ apiUrl: server.url });
 */
export async function startServer(options: StartServerOptions): Promise<RunningServer> {
  const { agents, store, logger = pino({ level: "silent" }), pageFolder, ...input } = options;
  const config = readServerConfig(input);
  const names = Object.keys(agents);
  const [first] = Object.values(agents);
  if (!first) throw new ServerConfigError("agents", "there is none; name at least one");
  const stopping = new AbortController();
  const closing = new AbortController();
  const projections = await openProjections(store, { registry: first.registry });
  await untilListed(projections);
  const runs = createRunDirectory();
  const shown = withRedaction(store);
  const line = createRunLine({
    queue: store.queue,
    graphs: names,
    leaseMs: config.leaseMs,
    adopt: (run) => inBackground(adoptRun(served, run), `run ${run.runId} could not be taken over`),
    begun: async ({ threadId, runId }) => {
      const record = await findRun(store.log, threadId, runId);
      return record && eventAt(store.log, threadStream(threadId), record.startVersion);
    },
    onError: (error) => logger.warn({ err: error }, "the line of runs could not be looked at"),
  });
  const served: Served = {
    agents: new Map(Object.entries(agents)),
    store: shown,
    whole: store,
    redacted: createRedactedReads(shown.log),
    projections,
    assistants: openAssistants(store.log, names),
    runs,
    line,
    config,
    logger,
    metrics: createMetrics(() => runs.size),
    stopping: stopping.signal,
    closing: closing.signal,
    background: new Set(),
  };
  function inBackground(work: Promise<void>, complaint: string): void {
    const done = work
      .catch((error: unknown) => logger.warn({ err: error }, complaint))
      .finally(() => served.background.delete(done));
    served.background.add(done);
  }
  const appOptions = { version: packageJson.version, ...(pageFolder !== undefined && { pageFolder }) };
  const openedFiles = createOpenedFiles(served, (inner) => createApp(inner, appOptions));
  const app = createApp(served, { ...appOptions, openedFiles });
  const listening = await listen(app.fetch, config);
  const { port } = listening.address() as AddressInfo;
  const host = config.host.includes(":") ? `[${config.host}]` : config.host;
  logger.info({ host: config.host, port, agents: names }, "listening");

  const takeOver = createTakeOver(served);
  const look = () => {
    inBackground(line.look(), "the line of runs could not be looked at");
    inBackground(takeOver(), "open runs of other servers could not be looked at");
  };
  look();
  const looking = setInterval(look, Math.min(maxLookMs, config.leaseMs / 3)).unref();

  let stopped: Promise<void> | undefined;
  const stop = async () => {
    stopping.abort();
    clearInterval(looking);
    for (const run of runs.open()) {
      run.drop(run.isKept ? new RunPostponedError(run.runId) : new RunDroppedError(run.runId));
    }
    const lineStopped = line.stop();
    await settledWithin(runs.idle(), config.graceMs);
    for (const { runId, threadId, graphId } of runs.open()) {
      const cancelling = agents[graphId]?.thread(threadId).cancel("the server stopped");
      cancelling?.catch((error: unknown) =>
        logger.warn({ err: error, runId }, "a run could not be cancelled"),
      );
    }
    await settledWithin(runs.idle(), config.graceMs);
    closing.abort();
    listening.closeIdleConnections();
    const closed = new Promise<void>((resolve) => listening.close(() => resolve()));
    // Streams were ended; clients that keep their sockets open all the same are not waited for.
    await settledWithin(closed, maxCloseMs);
    listening.closeAllConnections();
    await closed;
    await lineStopped;
    await openedFiles.closeAll();
    await Promise.all(served.background);
    await projections.close();
    logger.info("stopped");
  };
  return {
    url: `http://${host}:${port}`,
    port,
    stop() {
      stopped ??= stop();
      return stopped;
    },
  };
}

/** Resolves when the list of threads can be read; on a new store its table is made first. */
async function untilListed(projections: OpenProjections): Promise<void> {
  const list = projections.runs.find((run) => run.projection.name === threadList.name);
  const until = Date.now() + maxListMs;
  while (list && Date.now() < until) {
    const { state } = await list.status();
    if ((await projections.rows.live(threadList.name)) || state === "failed" || state === "superseded")
      return;
    await pause(listLookMs);
  }
}

/** Milliseconds that a server waits for the list of threads, and between looks. */
const maxListMs = 5_000;
const listLookMs = 5;

/** Milliseconds between looks for runs whose server is gone, at most. */
const maxLookMs = 1_000;

/** Milliseconds that answers under way may take once everything else is closed. */
const maxCloseMs = 1_000;

async function settledWithin(work: Promise<unknown>, ms: number): Promise<void> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<void>((resolve) => {
    timer = setTimeout(resolve, ms);
  });
  await Promise.race([work.then(() => undefined), late]);
  clearTimeout(timer);
}

type Listening = import("node:http").Server;

function listen(
  fetch: Parameters<typeof serve>[0]["fetch"],
  { host, port }: { readonly host: string; readonly port: number },
): Promise<Listening> {
  return new Promise((resolve, reject) => {
    const server = serve({ fetch, hostname: host, port }, () => resolve(server)) as Listening;
    server.once("error", (error: NodeJS.ErrnoException) => {
      const reason = error.code === "EADDRINUSE" ? "it is taken; name another one, or 0" : error.message;
      reject(new ServerConfigError("port", `${port}: ${reason}`));
    });
  });
}

import type { Hono } from "hono";
import type { Agent } from "../../actors/agent-contract.ts";
import { withRedaction } from "../../events/log/redacting-log.ts";
import type { Store } from "../../events/store.ts";
import type { OpenedExport } from "../../projections/open-export.ts";
import { openProjections } from "../../projections/open-projections.ts";
import type { ServerEnv } from "./access.ts";
import { openAssistants } from "./compat/assistant-records.ts";
import { createRunDirectory } from "./compat/run-directory.ts";
import { createRunLine } from "./compat/run-line.ts";
import { createMetrics } from "./metrics.ts";
import { createRedactedReads } from "./redacted-reads.ts";
import type { Served } from "./served.ts";

/** A file that somebody gave to be looked at. */
interface OpenedFile {
  readonly id: string;
  readonly threadIds: readonly string[];
  readonly app: Hono<ServerEnv>;
  close(): Promise<void>;
}

/** Exports that are looked at beside the server's own store: each with the whole API below its own path, read only. */
export interface OpenedFiles {
  /** Checks a file and keeps it in memory until it is closed, or others take its place. Nothing of it is stored. */
  open(lines: AsyncIterable<string>): Promise<Pick<OpenedFile, "id" | "threadIds">>;
  get(id: string): OpenedFile | undefined;
  close(id: string): Promise<void>;
  closeAll(): Promise<void>;
}

/** Files that are open at a time; the oldest makes room. */
const maxFiles = 4;

async function openServed(opened: OpenedExport, outer: Served) {
  // Read models are kept in memory, not beside a file.
  const store: Store = { ...opened, url: "memory:" };
  const like = [...outer.agents.values()][0];
  const { readerAgent } = await import("./reader-agent.ts");
  const agent: Agent = await readerAgent(store, opened.threadIds, like && { middleware: like.middleware });
  const closing = new AbortController();
  const projections = await openProjections(store, { registry: agent.registry });
  const runs = createRunDirectory();
  const shown = withRedaction(store);
  const served: Served = {
    agents: new Map([[agent.name, agent]]),
    store: shown,
    whole: store,
    redacted: createRedactedReads(shown.log),
    projections,
    assistants: openAssistants(store.log, [agent.name]),
    runs,
    // No run ever stands in it: the file is open for reading only.
    line: createRunLine({
      queue: store.queue,
      graphs: [],
      leaseMs: outer.config.leaseMs,
      adopt: () => undefined,
      begun: async () => undefined,
      onError: (error) => outer.logger.warn({ err: error }, "the line of an opened file"),
    }),
    // Whoever comes here was let in by the server around it.
    config: { ...outer.config, readOnly: true, tokens: [] },
    logger: outer.logger,
    metrics: createMetrics(() => runs.size),
    stopping: AbortSignal.any([outer.stopping, closing.signal]),
    closing: AbortSignal.any([outer.closing, closing.signal]),
    background: new Set(),
  };
  const close = async () => {
    closing.abort();
    await projections.close();
    await agent.close();
    await opened.close();
  };
  return { served, close };
}

/** @param appOf makes all routes of a server */
export function createOpenedFiles(outer: Served, appOf: (served: Served) => Hono<ServerEnv>): OpenedFiles {
  const files = new Map<string, OpenedFile>();
  const close = async (id: string) => {
    const file = files.get(id);
    files.delete(id);
    await file?.close();
  };
  return {
    async open(lines) {
      const { openExportLines } = await import("../../projections/open-export.ts");
      const opened = await openExportLines(lines);
      const { served, close: closeFile } = await openServed(opened, outer);
      const id = crypto.randomUUID();
      const { threadIds } = opened;
      files.set(id, { id, threadIds, app: appOf(served), close: closeFile });
      for (const old of [...files.keys()].slice(0, -maxFiles)) await close(old);
      return { id, threadIds };
    },
    get: (id) => files.get(id),
    close,
    async closeAll() {
      await Promise.all([...files.keys()].map(close));
    },
  };
}

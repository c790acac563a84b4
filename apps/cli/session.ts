import type { EventRegistry } from "../../events/event-registry.ts";
import type { EventLog } from "../../events/log/event-log.ts";
import type { Store } from "../../events/store.ts";
import type { StateReader } from "../../projections/state-at.ts";
import type { StateReducer } from "../../reducers/thread-state.ts";
import { type ExitCode, exitCodes } from "./exit-codes.ts";
import type { GlobalOptions } from "./global-options.ts";
import type { Settings } from "./settings.ts";
import type { Terminal } from "./terminal.ts";

/** The reducers and events with which threads are read. */
export interface Reading {
  readonly registry: EventRegistry;
  readonly reducer: StateReducer;
}

/** One call of the command line: what it was given, and what it opens when it needs it. */
export interface Session {
  readonly terminal: Terminal;
  readonly options: GlobalOptions;
  /** Aborted by the first Ctrl-C. The second ends the process. */
  readonly signal: AbortSignal;
  /** Settings of flags, environment and config file. @throws {ConfigError} */
  settings(): Promise<Settings>;
  /** The store, opened once. */
  store(): Promise<Store>;
  /** Reducers and events of the configured agent, or those that Threadfold knows. */
  reading(): Promise<Reading>;
  /** The same for one thread of a log: with the fields that its runs say they had. */
  readingOf(log: EventLog, threadId: string): Promise<Reading>;
  /** The log without what was redacted from it: for everything that is shown. */
  shownLog(): Promise<EventLog>;
  /** A reader of one thread of the store, without what was redacted from it. */
  readerOf(threadId: string): Promise<StateReader>;
  /** Runs when the command has ended, whichever way, before the store is closed. */
  onEnd(work: () => Promise<void>): void;
  /** Ends the command with this code unless something worse comes. */
  exitWith(code: ExitCode): void;
  readonly exitCode: ExitCode;
  end(): Promise<void>;
}

/** Opens nothing yet. */
export function createSession(terminal: Terminal, options: GlobalOptions, signal: AbortSignal): Session {
  let settings: Promise<Settings> | undefined;
  let store: Promise<Store> | undefined;
  let reading: Promise<Reading> | undefined;
  let shownLog: EventLog | undefined;
  let exitCode: ExitCode = exitCodes.ok;
  const endings: (() => Promise<void>)[] = [];

  const session: Session = {
    terminal,
    options,
    signal,
    settings() {
      settings ??= import("./settings.ts").then(({ readSettings }) => readSettings(options));
      return settings;
    },
    store() {
      store ??= openFor(session);
      return store;
    },
    reading() {
      reading ??= readingFor(session);
      return reading;
    },
    async readingOf(log, threadId) {
      if ((await session.settings()).agent.value !== undefined) return session.reading();
      const { readingOfThread } = await import("./thread-reading.ts");
      return readingOfThread(log, threadId);
    },
    async readerOf(threadId) {
      const { createStateReader } = await import("../../projections/state-at.ts");
      const { side } = await session.store();
      const log = await session.shownLog();
      const { isThreadRedacted } = await import("../../projections/redacted-threads.ts");
      const { createMemorySide } = await import("../../events/log/memory-side.ts");
      return createStateReader({
        log,
        // Snapshots may hold what was redacted.
        side: (await isThreadRedacted(log, threadId)) ? createMemorySide() : side,
        ...(await session.readingOf(log, threadId)),
      });
    },
    async shownLog() {
      const { createRedactingLog } = await import("../../events/log/redacting-log.ts");
      shownLog ??= createRedactingLog((await session.store()).log);
      return shownLog;
    },
    onEnd: (work) => void endings.push(work),
    exitWith(code) {
      exitCode = code;
    },
    get exitCode() {
      return exitCode;
    },
    async end() {
      for (const work of endings.reverse()) await work();
      const opened = await store?.catch(() => undefined);
      await opened?.close();
    },
  };
  return session;
}

async function openFor(session: Session): Promise<Store> {
  const { store, encrypt } = await session.settings();
  const { openStore } = await import("../../events/open-store.ts");
  return openStore(store.value, encrypt.value === undefined ? {} : { encrypt: encrypt.value });
}

async function readingFor(session: Session): Promise<Reading> {
  const { agent } = await session.settings();
  if (agent.value !== undefined) {
    const { loadAgent } = await import("./load-agent.ts");
    const loaded = await loadAgent(agent.value, { store: await session.store() });
    session.onEnd(() => loaded.close());
    return { registry: loaded.registry, reducer: loaded.reducer };
  }
  const { createEventRegistry } = await import("../../events/event-registry.ts");
  const { createThreadReducer } = await import("../../reducers/built-in.ts");
  return { registry: createEventRegistry(), reducer: createThreadReducer({ openFields: true }) };
}

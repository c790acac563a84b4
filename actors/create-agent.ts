import { openStore } from "../events/open-store.ts";
import type { Store } from "../events/store.ts";
import type { Agent, AgentOptions, Run, RunConfig, RunOptions, Thread } from "./agent-contract.ts";
import { keepInternals } from "./agent-internals.ts";
import { assemble } from "./assemble.ts";
import { openEnvironment } from "./environment.ts";
import { harnessMiddleware } from "./harness.ts";
import { loadLangChain } from "./langchain.ts";
import { answersFor, readLangChainInput } from "./langchain-input.ts";
import {
  langChainState,
  langGraphInterrupts,
  RunCancelledError,
  RunFailedError,
} from "./langchain-output.ts";
import { readStreamModes, streamRun } from "./langgraph-stream.ts";
import type { Middleware } from "./middleware/define-middleware.ts";
import { mintId } from "./mint-id.ts";
import { createRegistry } from "./registry.ts";
import { causeOf } from "./run-handle.ts";
import type { Environment } from "./run-scope.ts";
import { createThread } from "./thread.ts";

/** Milliseconds after which an idle thread leaves memory. */
const defaultIdleMs = 60_000;

/** The middlewares of an agent: with the preset, its own stand in the harness's place for them. */
function chainOf({ preset, harness, middleware = [] }: AgentOptions): readonly Middleware[] {
  if (preset !== "harness") return middleware;
  return harnessMiddleware({ ...harness, custom: [...(harness?.custom ?? []), ...middleware] });
}

/**
 * Makes an agent: a model with tools and middlewares, whose threads live in the log of a store. The store is opened
 * with the first call; one that was passed open stays open when the agent is closed.
 *
 * @throws {AssemblyError} @throws {FieldConflictError} @throws {EventConflictError}
 * @example
 * const agent = createAgent({ model: "openai:gpt-5", tools: [search], store: "sqlite:threads.db" });
 * const run = agent.thread("t1").run("hello");
 * for await (const item of run) if (item.kind === "token") process.stdout.write(item.text);
 * (await run.result).state.messages;
 */
export function createAgent(options: AgentOptions): Agent {
  let opening: Promise<Store> | undefined;
  const ownStore = typeof options.store !== "object";
  const store = (): Promise<Store> => {
    opening ??= typeof options.store === "object" ? Promise.resolve(options.store) : openStore(options.store);
    // A store that could not be opened is tried again by the next call.
    opening.catch(() => {
      opening = undefined;
    });
    return opening;
  };
  const assembly = assemble({ ...options, middleware: chainOf(options) }, store);

  let building: Promise<Environment> | undefined;
  const build = async (): Promise<Environment> => {
    const [opened] = await Promise.all([store(), loadLangChain()]);
    return openEnvironment(assembly, opened, options, () => threads.lookAtRuns());
  };
  const environment = (): Promise<Environment> => {
    building ??= build();
    building.catch(() => {
      building = undefined;
    });
    return building;
  };
  const threads = createRegistry({
    environment,
    agentName: assembly.name,
    idleMs: options.idleMs ?? defaultIdleMs,
  });

  const thread = (threadId: string = mintId()): Thread => createThread(threadId, threads, environment);

  const start = async (input: unknown, config: RunConfig): Promise<Run> => {
    const read = readLangChainInput(input);
    const { thread_id: threadId } = config.configurable ?? {};
    const target = thread(typeof threadId === "string" && threadId !== "" ? threadId : undefined);
    const runOptions: RunOptions = {
      ...(config.configurable && { configurable: config.configurable }),
      ...(config.context && { context: config.context }),
      ...(config.signal && { signal: config.signal }),
      ...(config.metadata && { metadata: config.metadata }),
    };
    if (read.kind === "input") return target.run(read.input, runOptions);
    const { interrupts } = await target.info();
    const open = interrupts.map(({ id }) => id);
    return target.resume(answersFor(read.value, open), runOptions);
  };

  /** @throws {RunFailedError} @throws {RunCancelledError} */
  const finish = async (run: Run) => {
    const result = await run.result;
    if (result.status === "failed") throw new RunFailedError(result, causeOf(result));
    if (result.status === "cancelled") throw new RunCancelledError(result);
    return result;
  };

  const agent: Agent = {
    name: assembly.name,
    reducer: assembly.reducer,
    registry: assembly.registry,
    middleware: assembly.middleware,
    store,
    thread,
    async invoke(input, config = {}) {
      const { state, interrupts } = await finish(await start(input, config));
      const { blobs } = await store();
      return {
        ...(await langChainState(state, blobs)),
        ...(interrupts.length > 0 && { __interrupt__: langGraphInterrupts(interrupts) }),
      };
    },
    async *stream(input, config = {}) {
      const modes = readStreamModes(config.streamMode);
      const run = await start(input, config);
      const { blobs } = await store();
      let complete = false;
      try {
        yield* streamRun(run, {
          modes,
          tagged: Array.isArray(config.streamMode),
          assembly,
          blobs,
          stateAt: thread(run.threadId).stateAt,
        });
        complete = true;
        await finish(run);
      } finally {
        // Who stops reading wants no more of it.
        if (!complete) await run.cancel("the reader went away").catch(() => undefined);
      }
    },
    async close() {
      await threads.close();
      const built = await building?.catch(() => undefined);
      await built?.reader.settled();
      await built?.lease.close();
      const opened = await opening?.catch(() => undefined);
      if (ownStore) await opened?.close();
    },
  };
  return keepInternals(agent, { threads, environment });
}

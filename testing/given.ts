import { isDeepStrictEqual } from "node:util";
import type { Agent } from "../actors/agent-contract.ts";
import { loadLangChain } from "../actors/langchain.ts";
import type { HookFunction, HookRuntime, Middleware } from "../actors/middleware/define-middleware.ts";
import { readHookResult } from "../actors/steps/hook-result.ts";
import { hookState } from "../actors/steps/hook-state.ts";
import { createMemoryBlobs } from "../events/blobs/memory.ts";
import { type EventDraft, isEventDraft } from "../events/define-event.ts";
import { deepFreeze } from "../events/log/deep-freeze.ts";
import { createThreadReducer } from "../reducers/built-in.ts";
import type { AnyReducerDefinition } from "../reducers/define-reducer.ts";
import { composeReducers, FoldError, type State, type StateReducer } from "../reducers/thread-state.ts";

/** What an example expects. Only what is named is looked at. */
export interface Expectation {
  /** Events that happened, in order; their data may be left out in part. */
  readonly events?: readonly { readonly type: string; readonly data?: unknown }[];
  /** Fields of the state afterwards. */
  readonly state?: Readonly<Record<string, unknown>>;
  /** Name, class or part of the message of the error. */
  readonly error?: string | RegExp | (abstract new (...args: never[]) => Error);
  /** Where a hook wants to go. */
  readonly jumpTo?: "model" | "tools" | "end";
}

/** What came of an example. */
export interface Outcome {
  readonly events: readonly EventDraft[];
  readonly state: State;
  readonly error: unknown;
  readonly jumpTo: unknown;
}

/** An example came out otherwise than it says. */
export class ExampleError extends Error {
  override readonly name = "ExampleError";
  constructor(what: string, expected: unknown, actual: unknown) {
    super(`${what}: expected ${JSON.stringify(expected)}, it was ${JSON.stringify(actual)}.`);
  }
}

type Hook = HookFunction<never, never>;

/** What happens in an example: an event, a hook of a middleware, or an input to an agent. */
export type Happening =
  | EventDraft
  | readonly EventDraft[]
  | Hook
  | { readonly hook: Hook }
  | string
  | { readonly input: unknown };

/** What an example is about. Default: the reducers of all built-in fields. */
export type ExampleSubject =
  | AnyReducerDefinition
  | { readonly reducer: StateReducer }
  | StateReducer
  | Agent
  | Middleware;

export interface When {
  /** Compares with what came. @throws {ExampleError} when it is something else */
  then(expected: Expectation): Promise<Outcome>;
  /** What came, for a look of one's own. */
  outcome(): Promise<Outcome>;
}

export interface Given {
  /** One thing happens. */
  when(happening: Happening): When;
}

function isAgent(subject: ExampleSubject | undefined): subject is Agent {
  return typeof subject === "object" && "thread" in subject && typeof subject.thread === "function";
}

function reducerOf(subject: ExampleSubject | undefined): StateReducer {
  if (subject === undefined) return createThreadReducer({ openFields: true });
  if ("fold" in subject && "definitions" in subject) return subject;
  if ("reducer" in subject) return subject.reducer;
  if ("field" in subject) return composeReducers([{ source: "example", reducers: [subject] }]);
  return createThreadReducer({ openFields: true });
}

/**
 * A readable example: given these events, when this happens, then these events, this state, or this error.
 *
 * `when` takes events (what do reducers make of them), a hook of a middleware (what does it record), or a text for an
 * agent (what does a whole run record). The state is frozen, and a hook gets it as in a run.
 *
 * @throws {ExampleError} when it comes out otherwise
 * @example
 * await given([TodosWritten({ todos: [{ content: "read" }] })])
 *   .when(TodosWritten({ todos: [] }))
 *   .then({ state: { todos: [] } });
 */
export function given(events: readonly EventDraft[], subject?: ExampleSubject): Given {
  return {
    when(happening) {
      const outcome = () => happen(events, happening, subject);
      return {
        // biome-ignore lint/suspicious/noThenProperty: `then` is the word of the example
        async then(expected: Expectation | ((outcome: Outcome) => void), reject?: (error: unknown) => void) {
          // `await given(…).when(…)` calls `then` with two functions: it gets the outcome.
          if (typeof expected !== "function") return compare(await outcome(), expected);
          const came = outcome();
          came.then(expected, reject);
          return came;
        },
        outcome,
      };
    },
  };
}

function fold(reducer: StateReducer, events: readonly EventDraft[], from: State, at = 0): State {
  return events.reduce<State>(
    (state, { type, data }, index) =>
      deepFreeze(reducer.apply(state, deepFreeze({ type, data, version: at + index + 1 }))),
    deepFreeze(from),
  );
}

async function happen(
  events: readonly EventDraft[],
  happening: Happening,
  subject: ExampleSubject | undefined,
): Promise<Outcome> {
  if (isAgent(subject) && (typeof happening === "string" || "input" in happening)) {
    return runAgent(subject, events, typeof happening === "string" ? happening : happening.input);
  }
  const reducer = reducerOf(subject);
  const before = fold(reducer, events, reducer.initial);
  let recorded: readonly EventDraft[] = [];
  let jumpTo: unknown;
  try {
    const hook = hookOf(happening);
    if (hook) {
      await loadLangChain();
      const result = readHookResult(
        await hook(hookState(before) as never, exampleRuntime(events.length) as never),
      );
      const updates = Object.entries(result.update ?? {}).flatMap(([field, update]) =>
        draftsOfUpdate(reducer, before, field, update),
      );
      recorded = [...result.events, ...updates];
      jumpTo = result.jumpTo;
    } else recorded = isEventDraft(happening) ? [happening] : (happening as readonly EventDraft[]);
    const state = fold(reducer, recorded, before, events.length);
    return { events: recorded, state, error: undefined, jumpTo };
  } catch (error) {
    return {
      events: recorded,
      state: before,
      error: error instanceof FoldError ? error.cause : error,
      jumpTo,
    };
  }
}

function draftsOfUpdate(
  reducer: StateReducer,
  state: State,
  field: string,
  update: unknown,
): readonly EventDraft[] {
  const fromUpdate = reducer.definitions.get(field)?.fromUpdate;
  return fromUpdate
    ? fromUpdate(update, state[field])
    : [{ type: "StateUpdated", data: { field, value: update } }];
}

function hookOf(happening: Happening): Hook | undefined {
  if (typeof happening === "function") return isEventDraft(happening) ? undefined : happening;
  return typeof happening === "object" && "hook" in happening ? happening.hook : undefined;
}

/** A run in which nothing has happened yet. */
function exampleRuntime(version: number): HookRuntime {
  const counts = { toolCalls: {}, eventCounts: {}, threadModelCalls: 0, threadToolCalls: {} };
  return Object.freeze({
    threadId: "example",
    runId: "example-run",
    step: 0,
    version,
    context: {},
    configurable: { thread_id: "example", run_id: "example-run" },
    signal: new AbortController().signal,
    blobs: createMemoryBlobs(),
    folder: "",
    writer: () => undefined,
    run: { modelCalls: 0, ...counts },
  });
}

async function runAgent(agent: Agent, events: readonly EventDraft[], input: unknown): Promise<Outcome> {
  const thread = agent.thread();
  if (events.length > 0) await thread.record(events);
  const { version } = await thread.info();
  const { state, error } = await thread.run(input as string).result;
  const recorded: EventDraft[] = [];
  for await (const { type, data } of thread.events({ from: version + 1 })) recorded.push({ type, data });
  return { events: recorded, state, error, jumpTo: undefined };
}

/** True when `actual` has everything that `expected` names. */
function holds(expected: unknown, actual: unknown): boolean {
  if (typeof expected !== "object" || expected === null || Array.isArray(expected))
    return isDeepStrictEqual(plain(expected), plain(actual));
  if (typeof actual !== "object" || actual === null) return false;
  return Object.entries(expected).every(([key, value]) =>
    holds(value, (actual as Record<string, unknown>)[key]),
  );
}

function plain(value: unknown): unknown {
  return value === undefined ? undefined : (JSON.parse(JSON.stringify(value)) as unknown);
}

function compare(outcome: Outcome, expected: Expectation): Outcome {
  if (expected.error === undefined && outcome.error !== undefined) throw outcome.error;
  if (expected.error !== undefined && !isExpected(expected.error, outcome.error)) {
    throw new ExampleError(
      "The error",
      String(expected.error),
      outcome.error === undefined ? "none" : String(outcome.error),
    );
  }
  const { events, state, jumpTo } = expected;
  const sameEvents =
    events?.length === outcome.events.length && events.every((event, at) => holds(event, outcome.events[at]));
  if (events && !sameEvents) throw new ExampleError("The events", events, outcome.events);
  for (const [field, value] of Object.entries(state ?? {})) {
    if (!isDeepStrictEqual(plain(value), plain(outcome.state[field]))) {
      throw new ExampleError(`The field "${field}"`, value, outcome.state[field]);
    }
  }
  if ("jumpTo" in expected && jumpTo !== outcome.jumpTo)
    throw new ExampleError("The jump", jumpTo, outcome.jumpTo);
  return outcome;
}

function isExpected(expected: NonNullable<Expectation["error"]>, error: unknown): boolean {
  if (error === undefined) return false;
  if (typeof expected === "function") return error instanceof expected;
  const { name, message } = error as Error;
  return typeof expected === "string"
    ? name === expected || message.includes(expected)
    : expected.test(`${name}: ${message}`);
}

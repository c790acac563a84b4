import { canonicalJson } from "../../events/canonical-json.ts";
import { threadStream } from "../../events/envelope.ts";
import { sha256 } from "../../events/hash-chain.ts";
import type { Json, JsonObject } from "../../events/json.ts";
import { checkStreamName, InvalidNameError } from "../../events/log/event-log.ts";

/** A JSON document holds no thread that can be imported. */
export class NotAThreadError extends Error {
  override readonly name = "NotAThreadError";
  constructor(reason: string) {
    super(
      `This is no thread: ${reason}. Give an export of threadfold, a LangGraph thread state with "values", or an array of such states.`,
    );
  }
}

/** One state of a LangGraph thread: its values, and everything else that it says. */
export interface SourceState {
  readonly values: JsonObject;
  readonly rest: JsonObject;
}

/** A LangGraph thread as its file has it. */
export interface SourceThread {
  readonly threadId: string;
  /** Oldest first, each the parent of the next; at least one. */
  readonly states: readonly [SourceState, ...SourceState[]];
  /** States of the file that are on other branches or of subgraphs, without their values. */
  readonly aside: readonly JsonObject[];
  readonly format: "langgraph.thread-state" | "langgraph.history";
  /** Things that could not be taken as they are. */
  readonly notes: readonly string[];
}

export function isObject(value: unknown): value is JsonObject {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

function member(value: Json | undefined, ...path: readonly string[]): Json | undefined {
  return path.reduce<Json | undefined>(
    (current, key) => (isObject(current) ? current[key] : undefined),
    value,
  );
}

function text(...candidates: readonly (Json | undefined)[]): string | undefined {
  return candidates.find((value): value is string => typeof value === "string" && value !== "");
}

function checkpointId({ rest }: SourceState): string | undefined {
  return text(
    member(rest, "checkpoint", "checkpoint_id"),
    rest.checkpoint_id,
    member(rest, "config", "configurable", "checkpoint_id"),
  );
}

function parentId({ rest }: SourceState): string | undefined {
  return text(
    member(rest, "parent_checkpoint", "checkpoint_id"),
    rest.parent_checkpoint_id,
    member(rest, "parent_config", "configurable", "checkpoint_id"),
  );
}

function namespace({ rest }: SourceState): string | undefined {
  return text(
    member(rest, "checkpoint", "checkpoint_ns"),
    member(rest, "config", "configurable", "checkpoint_ns"),
  );
}

function stateFrom(value: Json | undefined, where: string): SourceState {
  if (!isObject(value)) throw new NotAThreadError(`${where} is no object`);
  const { values, ...rest } = value;
  if (isObject(values)) return { values, rest };
  if (values === undefined && Array.isArray(value.messages)) return { values: value, rest: {} };
  throw new NotAThreadError(`${where} has no "values"`);
}

/** Newest last. States without times keep their order, which is newest first in LangGraph's answers. */
function byAge(states: readonly SourceState[]): SourceState[] {
  const keyOf = (state: SourceState) => text(state.rest.created_at) ?? "";
  return states
    .map((state, index) => ({ state, index }))
    .sort((a, b) => {
      const [left, right] = [keyOf(a.state), keyOf(b.state)];
      return left === right ? b.index - a.index : left < right ? -1 : 1;
    })
    .map(({ state }) => state);
}

/** The newest state and those that it came from. */
function mainLine(states: readonly SourceState[]): { line: SourceState[]; aside: SourceState[] } {
  const root = byAge(states.filter((state) => namespace(state) === undefined));
  const ids = new Map(
    root.flatMap((state) => (checkpointId(state) ? [[checkpointId(state), state] as const] : [])),
  );
  const linked = root.some((state) => ids.has(parentId(state)));
  const line: SourceState[] = [];
  if (linked) {
    for (let at = root.at(-1); at && !line.includes(at); at = ids.get(parentId(at))) line.unshift(at);
  } else line.push(...root);
  return { line, aside: states.filter((state) => !line.includes(state)) };
}

/**
 * Recognises a LangGraph thread: one thread state (DeerFlow's `thread.json` is one), an answer of `/history`, or bare
 * values.
 *
 * @param threadId the id to import under; left out: the thread's own, or one that is derived from the content
 * @throws {NotAThreadError}
 */
export function readSourceThread(document: Json, threadId?: string): SourceThread {
  const isHistory = Array.isArray(document);
  const items: readonly Json[] = isHistory ? document : [document];
  const states = items.map((item, index) =>
    stateFrom(item, isHistory ? `state ${index + 1} of the array` : "it"),
  );
  const { line, aside } = mainLine(states);
  const [first, ...others] = line;
  const head = line.at(-1);
  if (!first || !head) throw new NotAThreadError("the array holds no state of a whole thread");
  const notes: string[] = [];
  if (aside.length > 0) {
    notes.push(`${aside.length} states on other branches or of subgraphs: their values were not imported`);
  }
  const own = text(
    member(head.rest, "metadata", "thread_id"),
    member(head.rest, "checkpoint", "thread_id"),
    member(head.rest, "config", "configurable", "thread_id"),
    head.rest.thread_id,
  );
  const derived = `import-${sha256(canonicalJson(document)).slice(0, 16)}`;
  if (threadId === undefined && own === undefined)
    notes.push(`thread id: there is none, it became ${derived}`);
  const wanted = threadId ?? own ?? derived;
  if (threadId === undefined && !isThreadId(wanted))
    notes.push(`thread id "${wanted}": it became ${derived}`);
  return {
    threadId: threadId !== undefined || isThreadId(wanted) ? wanted : derived,
    states: [first, ...others],
    aside: aside.map(({ rest }) => rest),
    format: isHistory ? "langgraph.history" : "langgraph.thread-state",
    notes,
  };
}

function isThreadId(id: string): boolean {
  try {
    checkStreamName(threadStream(id));
    return true;
  } catch (error) {
    if (error instanceof InvalidNameError) return false;
    throw error;
  }
}

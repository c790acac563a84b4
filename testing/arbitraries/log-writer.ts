import type { EventDraft } from "../../events/define-event.ts";
import { type Emitter, threadStream } from "../../events/envelope.ts";
import { type ChainHead, chainStart, type SealedEvent, sealEvents } from "../../events/hash-chain.ts";
import type { Json } from "../../events/json.ts";
import { createStateHasher } from "../../projections/state-hash.ts";
import type { State } from "../../reducers/thread-state.ts";
import { idFrom } from "../id-from.ts";
import type { StateSource } from "../subject-of.ts";

const firstTime = Date.UTC(2026, 0, 1);

/** One thread of a generated log. */
export interface GeneratedThread {
  readonly threadId: string;
  /** A whole chain from version 1. */
  readonly events: readonly SealedEvent[];
  /** The state at every version: `states[n]` is the state at version n; the state before a fork's first event is its parent's. */
  readonly states: readonly State[];
  /** Versions at which no run was open. */
  readonly rests: readonly number[];
}

/** Writes the events of one thread as the runtime would: folded first, then sealed into the chain. */
export interface LogWriter {
  readonly state: State;
  readonly version: number;
  /** Ids of the run that what follows belongs to; undefined: none. */
  runId: string | undefined;
  /** Records events that have to fold. */
  record(by: Emitter, ...drafts: readonly EventDraft[]): void;
  /** Records those events that the state does not refuse. */
  offer(by: Emitter, drafts: readonly EventDraft[]): void;
  /** The thread stands at an earlier version again. */
  rewind(toVersion: number): void;
  /** No run is open here. */
  rest(): void;
  /** Hash of the state, for the end of a run. */
  stateHash(): string;
  thread(): GeneratedThread;
}

/** Starts a thread, on the state of a parent for a fork. */
export function createLogWriter(source: StateSource, threadId: string, from?: State): LogWriter {
  const { reducer, registry } = source;
  const stream = threadStream(threadId);
  const hasher = createStateHasher();
  const events: SealedEvent[] = [];
  const states: State[] = [from ?? reducer.initial];
  const rests: number[] = [];
  let head: ChainHead = { version: 0, hash: chainStart };
  let state = states[0] ?? {};

  const append = (by: Emitter, { type, data }: EventDraft, next: State) => {
    const id = idFrom(`${threadId} ${events.length}`);
    const schema = registry.get(type)?.version ?? 1;
    const runId = writer.runId === undefined ? {} : { runId: writer.runId };
    const metadata = { schema, by, causationId: id, correlationId: writer.runId ?? id, ...runId };
    const recordedAt = new Date(firstTime + 1_000 * events.length).toISOString();
    const sealed = sealEvents(stream, head, [{ id, type, data: data as Json, recordedAt, metadata }]);
    events.push(...sealed);
    const last = sealed[sealed.length - 1];
    if (last) head = { version: last.version, hash: last.metadata.hash };
    state = next;
    states.push(next);
  };
  const foldOf = ({ type, data }: EventDraft) =>
    reducer.apply(state, { type, data, version: head.version + 1 });

  const writer: LogWriter = {
    get state() {
      return state;
    },
    get version() {
      return head.version;
    },
    runId: undefined,
    record(by, ...drafts) {
      for (const draft of drafts) append(by, draft, foldOf(draft));
    },
    offer(by, drafts) {
      for (const draft of drafts) {
        let next: State;
        try {
          next = foldOf(draft);
        } catch {
          continue;
        }
        append(by, draft, next);
      }
    },
    rewind(toVersion) {
      const back = states[toVersion] ?? state;
      append("user", { type: "ThreadRewound", data: { toVersion } }, back);
    },
    rest: () => void rests.push(head.version),
    stateHash: () => hasher.hash(state),
    thread: () => ({ threadId, events, states, rests }),
  };
  return writer;
}

import { canonicalJson } from "../../events/canonical-json.ts";
import type { EventDraft } from "../../events/define-event.ts";
import { type Emitter, type NewEvent, threadStream } from "../../events/envelope.ts";
import type { EventRegistry } from "../../events/event-registry.ts";
import { chainStart, type SealedEvent, sealEvents, sha256 } from "../../events/hash-chain.ts";
import type { Json } from "../../events/json.ts";
import { storableJson } from "../../events/storable-json.ts";
import type { State, StateReducer } from "../../reducers/thread-state.ts";
import { createStateHasher } from "../state-hash.ts";

/** Collects the events of an imported thread and folds them as they come. */
export interface EventWriter {
  readonly state: State;
  readonly count: number;
  /** True when the data fits the event's schema. */
  fits(draft: EventDraft): boolean;
  /** State that the draft would lead to. @throws {FoldError} */
  preview(draft: EventDraft): State;
  /** Adds an event; the next ones were caused by it when `leads`. */
  add(draft: EventDraft, by: Emitter, options?: { readonly leads?: boolean }): void;
  /** Time of the next events, in milliseconds since 1970; time never goes back. */
  at(time: number | undefined): void;
  enterRun(runId: string): void;
  leaveRun(): void;
  /** What the end of a run says of the state: its hash, in the fields that something was written to. */
  stateProof(): { readonly stateHash: string; readonly stateFields: string[] };
  /** An id that follows from the thread and the text. */
  derivedId(text: string): string;
  seal(): readonly SealedEvent[];
}

/** A UUIDv7 of a time whose random part follows from a text. */
function derivedUuid(time: number, text: string): string {
  const hash = sha256(text);
  const ms = Math.max(0, Math.floor(time)).toString(16).padStart(12, "0").slice(-12);
  const variant = (8 + (Number.parseInt(hash.slice(3, 4), 16) % 4)).toString(16);
  return `${ms.slice(0, 8)}-${ms.slice(8)}-7${hash.slice(0, 3)}-${variant}${hash.slice(4, 7)}-${hash.slice(7, 19)}`;
}

/** Makes the writer of one thread. The same drafts at the same times give the same events, ids included. */
export function createEventWriter(options: {
  readonly threadId: string;
  readonly registry: EventRegistry;
  readonly reducer: StateReducer;
}): EventWriter {
  const { threadId, registry, reducer } = options;
  const hasher = createStateHasher();
  const events: NewEvent[] = [];
  let state = reducer.initial;
  let now = 0;
  let runId: string | undefined;
  let cause: string | undefined;

  const foldable = (draft: EventDraft) => ({ ...draft, version: events.length + 1 });
  return {
    get state() {
      return state;
    },
    get count() {
      return events.length;
    },
    fits: (draft) => registry.get(draft.type)?.schema.safeParse(draft.data).success === true,
    preview: (draft) => reducer.apply(state, foldable(draft)),
    add(draft, by, { leads = false } = {}) {
      state = reducer.apply(state, foldable(draft));
      const data = storableJson(draft.data) as Json;
      const seed = [threadId, events.length, draft.type, canonicalJson(data)].join("\n");
      const id = derivedUuid(now, seed);
      const schema = registry.get(draft.type)?.version ?? 1;
      events.push({
        id,
        type: draft.type,
        data,
        recordedAt: new Date(now).toISOString(),
        metadata: {
          schema,
          by,
          causationId: cause ?? id,
          correlationId: runId ?? id,
          ...(runId !== undefined && { runId }),
        },
      });
      if (leads || (runId !== undefined && cause === undefined)) cause = id;
    },
    at(time) {
      if (time !== undefined && time > now) now = time;
    },
    enterRun(id) {
      runId = id;
      cause = undefined;
    },
    leaveRun() {
      runId = undefined;
      cause = undefined;
    },
    stateProof() {
      // Agents that read the thread later need not know the others.
      const written = Object.entries(state).filter(([field, value]) => value !== reducer.initial[field]);
      return {
        stateHash: hasher.hash(Object.fromEntries(written)),
        stateFields: written.map(([field]) => field),
      };
    },
    derivedId: (text) => derivedUuid(now, `${threadId}\n${text}`),
    seal: () => sealEvents(threadStream(threadId), { version: 0, hash: chainStart }, events),
  };
}

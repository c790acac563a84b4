import type { BlobStore } from "../../../events/blobs/blob-store.ts";
import type { DataOf } from "../../../events/define-event.ts";
import type { EventRegistry } from "../../../events/event-registry.ts";
import type { EventLog } from "../../../events/log/event-log.ts";
import type { Message } from "../../../events/message.ts";
import type { ModelCallStarted, ModelResponded, View, ViewEdit } from "../../../events/model.ts";
import { createFoldPages } from "../../../projections/fold-pages.ts";
import { resolveLineage } from "../../../projections/lineage.ts";
import { type EditsInForce, foldEdits, noEdits, showMessages } from "../../../projections/request-view.ts";
import { modelView } from "../../../reducers/compaction.ts";
import type { StateReducer } from "../../../reducers/thread-state.ts";
import { requestKey, type VisibleMessage, visibleMessages } from "./visible-request.ts";

/** One answer of a model, with what it was asked. */
export interface RecordedCall {
  /** `<thread>@<version>` of the answer. */
  readonly at: string;
  readonly key: string;
  readonly request: readonly VisibleMessage[];
  /** Digest of the tools that were offered; null: none, undefined: the recording does not say. */
  readonly tools: string | null | undefined;
  readonly answer: Message;
}

interface Request {
  readonly messages: readonly Message[];
  readonly tools: string | null;
}

/**
 * The model calls of a thread up to a version, oldest first. Calls whose start was not recorded (imported threads) are
 * taken to have been asked with all messages before them.
 *
 * @throws {UnknownThreadError} @throws {VersionOutOfRangeError} @throws {BlobMissingError} @throws {FoldError}
 */
export async function readRecordedCalls(
  store: { readonly log: EventLog; readonly blobs: BlobStore },
  { reducer, registry }: { readonly reducer: StateReducer; readonly registry: EventRegistry },
  stream: string,
  version: number,
): Promise<RecordedCall[]> {
  const segments = await resolveLineage(store.log, stream, version);
  const pages = createFoldPages(store.log, registry);
  const shownAt = await viewedVersions(pages(segments, ["ModelCallStarted"]));
  const views = new Map<string, readonly Message[]>();
  const edits = new Map<string, EditsInForce>();
  const open = new Map<string, Request>();
  const calls: RecordedCall[] = [];
  let state = reducer.initial;
  for await (const { segment, events } of pages(segments)) {
    for (const event of events) {
      const place = `${segment.stream}@${event.version}`;
      if (event.type === "ModelCallStarted") {
        const { callId, view, tools } = event.data as DataOf<typeof ModelCallStarted>;
        const before = view.from === null ? noEdits : (edits.get(view.from) ?? noEdits);
        const inForce = foldEdits(before, await editsOf(view, store.blobs));
        edits.set(callId, inForce);
        const base = views.get(`${segment.stream}@${view.version}`) ?? modelView(state);
        open.set(callId, { messages: showMessages(base, inForce).map(({ message }) => message), tools });
      } else if (event.type === "ModelResponded") {
        const { callId, message } = event.data as DataOf<typeof ModelResponded>;
        const asked = open.get(callId);
        const request = visibleMessages(asked?.messages ?? modelView(state));
        const at = place.replace(/^thread-/, "");
        calls.push({ at, key: requestKey(request), request, tools: asked?.tools, answer: message });
      }
      state = reducer.apply(state, event);
      if (shownAt.has(place)) views.set(place, modelView(state));
    }
  }
  return calls;
}

async function viewedVersions(
  pages: AsyncIterable<{ segment: { stream: string }; events: readonly { data: unknown }[] }>,
): Promise<ReadonlySet<string>> {
  const places = new Set<string>();
  for await (const { segment, events } of pages) {
    for (const { data } of events) {
      places.add(`${segment.stream}@${(data as DataOf<typeof ModelCallStarted>).view.version}`);
    }
  }
  return places;
}

async function editsOf(view: View, blobs: BlobStore): Promise<readonly ViewEdit[]> {
  if (view.blob === undefined) return view.edits;
  return JSON.parse(new TextDecoder().decode(await blobs.get(view.blob.sha256))) as ViewEdit[];
}

import type { BlobStore } from "../events/blobs/blob-store.ts";
import type { EventDraft } from "../events/define-event.ts";
import type { EventRegistry } from "../events/event-registry.ts";
import type { Json } from "../events/json.ts";
import { storableJson } from "../events/storable-json.ts";
import { externalize } from "./externalize.ts";
import { frozenJson } from "./frozen-json.ts";
import type { AttributedDraft } from "./steps/step-contract.ts";

export type CheckedDraft = EventDraft<string, Json>;

/** Drafts that were checked once need no second look: they are frozen. */
const known = new WeakSet<EventDraft>();

/** @throws {InvalidEventError} @throws {NotJsonError} */
export function checkDraft(draft: EventDraft, registry: EventRegistry): CheckedDraft {
  if (known.has(draft)) return draft as CheckedDraft;
  const checked = { type: draft.type, data: frozenJson(storableJson(draft.data)) };
  registry.check(checked);
  known.add(Object.freeze(checked));
  return checked;
}

/**
 * Drafts as they can be appended: large content in the blob store, data plain, frozen and valid. A long list of
 * messages becomes several drafts.
 *
 * @throws {InvalidEventError} @throws {NotJsonError} and what the blob store throws
 */
export async function checkDrafts(
  drafts: readonly AttributedDraft[],
  registry: EventRegistry,
  blobs: BlobStore,
): Promise<readonly (AttributedDraft & { readonly draft: CheckedDraft })[]> {
  if (drafts.every(({ draft }) => known.has(draft))) return drafts as never;
  const moved = await externalize(drafts, blobs);
  return moved.map(({ draft, by }) => ({ draft: checkDraft(draft, registry), by }));
}

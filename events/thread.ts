import { defineEvent } from "./define-event.ts";
import { lazySchema } from "./zod.ts";

const metadata = lazySchema((z) => z.record(z.string(), z.json()));

export const ThreadCreated = defineEvent({
  type: "ThreadCreated",
  schema: (z) =>
    z.object({
      metadata: metadata().optional(),
      /** Where an imported thread came from, with everything that has no event of its own. */
      source: z.looseObject({ format: z.string() }).optional(),
    }),
  content: ["source"],
});

/** First event of a fork: the state before it is the parent's at `parentVersion`. Nothing is copied. */
export const ThreadForked = defineEvent({
  type: "ThreadForked",
  schema: (z) =>
    z.object({
      parentThreadId: z.string().min(1),
      parentVersion: z.number().int().nonnegative(),
      /** Hash of the parent's event at `parentVersion`: the fork proves which history it stands on. */
      parentHash: z.string().optional(),
      metadata: metadata().optional(),
    }),
});

/** The thread went back: what follows builds on the state at `toVersion`. The abandoned events stay readable. */
export const ThreadRewound = defineEvent({
  type: "ThreadRewound",
  schema: (z) => z.object({ toVersion: z.number().int().nonnegative(), reason: z.string().optional() }),
});

/** Keys of the thread's metadata changed; null removes a key. */
export const ThreadMetadataChanged = defineEvent({
  type: "ThreadMetadataChanged",
  schema: (z) => z.object({ metadata: metadata() }),
});

export const ThreadArchived = defineEvent({
  type: "ThreadArchived",
  schema: (z) => z.object({ archive: z.string().optional(), reason: z.string().optional() }),
});

/** The content key was destroyed: content is gone, the chain of hashes still verifies. */
export const ThreadErased = defineEvent({
  type: "ThreadErased",
  schema: (z) =>
    z.object({
      reason: z.string().optional(),
      /** The whole thread is about to be deleted, this event included: read models drop it. */
      deleted: z.literal(true).optional(),
    }),
});

/** An archived thread was taken back into use. */
export const ThreadRestored = defineEvent({
  type: "ThreadRestored",
  schema: (z) => z.object({ archive: z.string().optional() }),
});

/** Content at the given dot paths of earlier events was removed by rule. */
export const ContentRedacted = defineEvent({
  type: "ContentRedacted",
  schema: (z) =>
    z.object({
      rule: z.string(),
      versions: z.array(z.number().int().positive()),
      reason: z.string().optional(),
    }),
});

/** A name was given to a version of the thread, or taken away (null). */
export const HeadNamed = defineEvent({
  type: "HeadNamed",
  schema: (z) => z.object({ name: z.string().min(1), version: z.number().int().nonnegative().nullable() }),
});

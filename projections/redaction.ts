import { BlobMissingError, type BlobStore } from "../events/blobs/blob-store.ts";
import { type Emitter, type RecordedEvent, threadStream } from "../events/envelope.ts";
import { createEventRegistry, type EventRegistry } from "../events/event-registry.ts";
import { leafOf } from "../events/keys/content-key.ts";
import { parseRedactionRule, type RedactionRule, redactedPaths } from "../events/keys/redaction-rule.ts";
import { contentPaths } from "../events/keys/seal-data.ts";
import { asEncrypted, blobsOfThread } from "../events/keys/with-encryption.ts";
import type { EventLog } from "../events/log/event-log.ts";
import type { Store } from "../events/store.ts";
import { ContentRedacted } from "../events/thread.ts";
import { blobsOf } from "./blob-references.ts";
import { blobsOnlyOf, digestsOf } from "./blobs-only-of.ts";
import { checkNotErased } from "./content-erased.ts";
import { dropSnapshotsOfFamily } from "./erase-thread.ts";
import {
  type ForgottenInProjections,
  forgetInProjections,
  type ProjectionsToForgetIn,
} from "./forget-in-projections.ts";
import { type ForksOf, forksFromLog } from "./fork-index.ts";
import { checkVersion } from "./lineage.ts";
import { recordThreadEvent } from "./record-event.ts";

/** Nothing in the thread fits the rule. */
export class NothingToRedactError extends Error {
  override readonly name = "NothingToRedactError";
  constructor(
    readonly thread: string,
    readonly rule: string,
    /** The thread that it was forked from. */
    readonly parent?: string,
  ) {
    const next =
      parent === undefined
        ? "check the path or the pattern"
        : `what it inherited is redacted in the thread it was forked from: threadfold redact ${parent} --rule …`;
    super(`Nothing in thread "${thread}" fits the rule ${rule}. Nothing was recorded; ${next}.`);
  }
}

export interface RedactOptions {
  /** A dot path (`messages.*.content`) or a pattern (`/…/`). It is recorded: do not write the secret itself into it. */
  readonly rule: string;
  /** Only events of these versions; default: all so far. */
  readonly versions?: readonly number[];
  readonly reason?: string;
  /** Default `user`. */
  readonly by?: Emitter;
  /** Tell what would be redacted, and record nothing. */
  readonly dryRun?: boolean;
  readonly registry?: EventRegistry;
  readonly projections?: ProjectionsToForgetIn;
  readonly forks?: ForksOf;
}

export interface RedactedThread extends ForgottenInProjections {
  readonly threadId: string;
  /** What was found, one entry for each event. */
  readonly matches: readonly {
    readonly version: number;
    readonly type: string;
    readonly paths: readonly string[];
  }[];
  /**
   * Digests of stored texts (outputs of tools, long messages) that a pattern matches. They are deleted whole, unless
   * another thread refers to them.
   */
  readonly blobs: readonly string[];
  /** `destroyed`: the keys of the fields are gone. `hidden`: they are left out when the thread is read. */
  readonly effect: "destroyed" | "hidden";
  /** Version of `ContentRedacted`; undefined after a dry run. */
  readonly version: number | undefined;
}

interface Match {
  readonly version: number;
  readonly type: string;
  readonly paths: readonly string[];
  /** Keys of the sealed pieces that hold the paths. */
  readonly leaves: readonly string[];
  /** What was found lies in sealed pieces. */
  readonly sealed: boolean;
  /** Digests of stored texts that match. */
  readonly blobs: readonly string[];
}

async function parentOf(log: EventLog, stream: string): Promise<string | undefined> {
  for await (const [first] of log.read(stream, { to: 1, types: ["ThreadForked"] })) {
    return (first?.data as { readonly parentThreadId?: string } | undefined)?.parentThreadId;
  }
  return undefined;
}

/** Stored texts of an event that a pattern matches. */
async function matchingBlobs(
  blobs: BlobStore,
  event: RecordedEvent,
  rule: RedactionRule,
): Promise<readonly string[]> {
  if (rule.kind !== "pattern") return [];
  const isOutput = event.type === "ToolOutputExternalized";
  const texts = blobsOf(event).filter(({ mimeType }) => mimeType?.startsWith("text/"));
  const digests = isOutput ? digestsOf(event) : texts.map(({ sha256 }) => sha256);
  const found: string[] = [];
  for (const sha256 of digests) {
    const bytes = await blobs.get(sha256).catch((error: unknown) => {
      if (error instanceof BlobMissingError) return undefined;
      throw error;
    });
    rule.pattern.lastIndex = 0;
    if (bytes && rule.pattern.test(new TextDecoder().decode(bytes))) found.push(sha256);
  }
  return found;
}

async function findMatches(
  store: Store,
  threadId: string,
  rule: RedactionRule,
  options: RedactOptions,
): Promise<Match[]> {
  const { versions, registry = createEventRegistry() } = options;
  const stream = threadStream(threadId);
  const rawLog = asEncrypted(store)?.stored.log;
  const matches: Match[] = [];
  for await (const page of store.log.read(stream)) {
    for (const event of page) {
      if (event.type === "ContentRedacted" || (versions && !versions.includes(event.version))) continue;
      const content = registry.get(event.type)?.content ?? [];
      const all = redactedPaths(event.data, rule);
      // A pattern is looked for in content only: ids and names that hold the log together stay.
      const inContent = (path: string) =>
        content.some((one) => path === one || path.startsWith(`${one}.`) || one.startsWith(`${path}.`));
      const paths = all.filter(inContent);
      const blobs = await matchingBlobs(blobsOfThread(store, threadId), event, rule);
      if (paths.length === 0 && blobs.length === 0) continue;
      let units: readonly string[] = [];
      if (rawLog) {
        for await (const raw of rawLog.read(stream, { from: event.version, to: event.version })) {
          units = raw[0] ? contentPaths(raw[0].data, []) : [];
        }
      }
      const touched = units.filter((unit) =>
        paths.some((path) => path === unit || path.startsWith(`${unit}.`) || unit.startsWith(`${path}.`)),
      );
      matches.push({
        version: event.version,
        type: event.type,
        paths,
        leaves: touched.map((unit) => leafOf(event.id, unit)),
        sealed: touched.length > 0 || paths.length === 0,
        blobs,
      });
    }
  }
  return matches;
}

/**
 * Takes content out of a thread by a rule, and records that.
 *
 * In an encrypted thread the keys of the pieces that hold it (one message, one title …) are destroyed: they are gone
 * whole and for ever, while the chain still verifies. In a thread in plain text the log cannot be changed without
 * breaking its chain: there the content is left out when the thread is read through `withRedaction`. Stored texts that a
 * pattern matches are deleted in both. Files in the thread's folder are not searched.
 *
 * @throws {RedactionRuleError} @throws {NothingToRedactError} @throws {UnknownThreadError}
 * @throws {ContentErasedError} the thread was erased
 * @example
 * await redactThread(store, "0190c3…", { rule: "/\\b\\d{16}\\b/", reason: "card numbers" });
 */
export async function redactThread(
  store: Store,
  threadId: string,
  options: RedactOptions,
): Promise<RedactedThread> {
  const { rule, reason, by = "user", dryRun = false, registry = createEventRegistry() } = options;
  const { projections, forks = forksFromLog(store.log) } = options;
  const stream = threadStream(threadId);
  const parsed = parseRedactionRule(rule);
  await checkVersion(store.log, stream, undefined);
  await checkNotErased(store.log, stream, "there is nothing left to redact.");
  const matches = await findMatches(store, threadId, parsed, options);
  if (matches.length === 0) {
    throw new NothingToRedactError(threadId, rule, await parentOf(store.log, stream));
  }
  const encrypted = asEncrypted(store);
  const effect = encrypted && matches.every((match) => match.sealed) ? "destroyed" : "hidden";
  const shown = matches.map(({ version, type, paths }) => ({ version, type, paths }));
  const only = new Set(
    matches.some((match) => match.blobs.length > 0) ? await blobsOnlyOf(store, threadId) : [],
  );
  const blobs = [...new Set(matches.flatMap((match) => match.blobs))].filter((sha256) => only.has(sha256));
  if (dryRun)
    return { threadId, matches: shown, blobs, effect, version: undefined, updated: [], dropped: [] };

  const draft = ContentRedacted({
    rule,
    versions: matches.map(({ version }) => version),
    ...(reason !== undefined && { reason }),
  });
  const recorded = await recordThreadEvent(store.log, threadId, draft, by);
  await dropSnapshotsOfFamily(store, threadId, forks);
  const leaves = matches.flatMap((match) => match.leaves);
  if (encrypted && leaves.length > 0) await encrypted.keys.redact(stream, leaves);
  for (const sha256 of blobs) await store.blobs.delete(sha256);
  const forgotten = projections
    ? await forgetInProjections(projections, { log: store.log, registry }, recorded.position)
    : { updated: [], dropped: [] };
  return { threadId, matches: shown, blobs, effect, version: recorded.version, ...forgotten };
}

import type { RecordedEvent } from "../../events/envelope.ts";

/** Where two events differ: a path like `data.title`, with what stands there. */
interface EventDifference {
  readonly path: string;
  readonly recorded: unknown;
  readonly rerun: unknown;
}

/** Tells whether two events say the same, ids and times apart. Remembers which id stands for which. */
export interface EventComparison {
  /** The first difference; undefined: none. */
  compare(recorded: RecordedEvent, rerun: RecordedEvent): EventDifference | undefined;
}

/** Measured, a digest over ids, or what goes with one: never the same twice. `digest` is of edits, `requestHash` of the whole request. */
const unstable = new Set([
  "latencyMs",
  "durationMs",
  "requestHash",
  "stateHash",
  "stateFields",
  "owner",
  "digest",
]);

const uuid = /[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}/g;
const isoTime = /\d{4}-\d{2}-\d{2}T\d{2}:\d{2}:\d{2}(?:\.\d+)?(?:Z|[+-]\d{2}:?\d{2})/g;
/** Blobs of edits hold ids. */
const isEditsBlob = (path: string) => path === "data.view.blob.sha256";

/**
 * Starts to compare the events of one run with those of its rerun, in order. Ids are taken for the same when one always
 * stands where the other does; times and what is measured are passed over.
 *
 * @example
 * const { compare } = createEventComparison();
 * compare(recorded, again)?.path; // "data.title"
 */
export function createEventComparison(): EventComparison {
  const forth = new Map<string, string>();
  const back = new Map<string, string>();

  const sameId = (left: string, right: string): boolean => {
    const known = forth.get(left);
    if (known !== undefined || back.has(right)) return known === right;
    forth.set(left, right);
    back.set(right, left);
    return true;
  };
  const sameText = (left: string, right: string): boolean => {
    if (left === right) return true;
    const [one, other] = [left.replace(isoTime, "<time>"), right.replace(isoTime, "<time>")];
    if (one.replace(uuid, "<id>") !== other.replace(uuid, "<id>")) return false;
    const ids = other.match(uuid) ?? [];
    return (one.match(uuid) ?? []).every((id, index) => sameId(id, ids[index] ?? ""));
  };
  const differs = (path: string, recorded: unknown, rerun: unknown): EventDifference | undefined => {
    if (typeof recorded === "string" && typeof rerun === "string") {
      return sameText(recorded, rerun) || isEditsBlob(path) ? undefined : { path, recorded, rerun };
    }
    if (typeof recorded !== "object" || recorded === null || typeof rerun !== "object" || rerun === null) {
      return recorded === rerun ? undefined : { path, recorded, rerun };
    }
    if (Array.isArray(recorded) !== Array.isArray(rerun)) return { path, recorded, rerun };
    const one = recorded as Readonly<Record<string, unknown>>;
    const other = rerun as Readonly<Record<string, unknown>>;
    for (const key of new Set([...Object.keys(one), ...Object.keys(other)])) {
      if (unstable.has(key)) continue;
      const found = differs(
        Array.isArray(recorded) ? `${path}[${key}]` : `${path}.${key}`,
        one[key],
        other[key],
      );
      if (found) return found;
    }
    return undefined;
  };

  return {
    compare(recorded, rerun) {
      if (recorded.type !== rerun.type) return { path: "type", recorded: recorded.type, rerun: rerun.type };
      const by = differs("metadata.by", recorded.metadata.by, rerun.metadata.by);
      return by ?? differs("data", recorded.data, rerun.data);
    },
  };
}

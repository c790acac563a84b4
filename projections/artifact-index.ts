import { type BriefEvent, threadIdOf } from "../events/envelope.ts";
import { defineProjection, type Rows } from "./define-projection.ts";
import { addTurn, noTurns, ownSegments, type StreamTurns } from "./lineage.ts";
import type { ProjectionView } from "./projection-view.ts";

interface ArtifactRow {
  readonly kind: "artifact";
  readonly threadId: string;
  readonly path: string;
  /** Versions of the thread at which it was presented. */
  readonly versions: readonly number[];
  readonly firstAt: string;
  readonly lastAt: string;
  readonly runId: string | null;
}

/** An artifact of a thread, or what decides which versions of the thread its state builds on. */
export type ArtifactIndexRow =
  | ArtifactRow
  | {
      readonly kind: "thread";
      readonly threadId: string;
      readonly turns: StreamTurns;
      readonly version: number;
      /** Versions at which the whole list was replaced from outside. */
      readonly resets: readonly number[];
    };

type ArtifactRows = Rows<ArtifactIndexRow>;
type Event = Omit<BriefEvent, "data">;

const threadKey = (threadId: string) => `thread/${threadId}`;
const artifactPrefix = (threadId: string) => `artifact/${threadId}/`;

function threadRow(rows: ArtifactRows, threadId: string) {
  const row = rows.get(threadKey(threadId));
  if (row?.kind === "thread") return row;
  return { kind: "thread", threadId, turns: noTurns, version: 0, resets: [] } as const;
}

function present(rows: ArtifactRows, event: Event, paths: readonly string[]): void {
  const threadId = threadIdOf(event.stream);
  if (threadId === undefined) return;
  rows.put(threadKey(threadId), { ...threadRow(rows, threadId), version: event.version });
  for (const path of paths) {
    const key = artifactPrefix(threadId) + path;
    const row = rows.get(key);
    const before = row?.kind === "artifact" ? row : undefined;
    rows.put(key, {
      kind: "artifact",
      threadId,
      path,
      versions: [...(before?.versions ?? []), event.version],
      firstAt: before?.firstAt ?? event.recordedAt,
      lastAt: event.recordedAt,
      runId: event.metadata.runId ?? null,
    });
  }
}

function turn(rows: ArtifactRows, event: BriefEvent): void {
  const threadId = threadIdOf(event.stream);
  if (threadId === undefined) return;
  const row = threadRow(rows, threadId);
  rows.put(threadKey(threadId), { ...row, turns: addTurn(row.turns, event), version: event.version });
}

/** Every file that any thread ever presented. */
export const artifactIndex = defineProjection<ArtifactIndexRow, "brief">({
  name: "artifact-index",
  version: 1,
  envelope: "brief",
  search: (row) => (row.kind === "artifact" ? row.path : ""),
  handlers: {
    ArtifactsPresented: (rows, event) => present(rows, event, event.data.paths),
    StateUpdated(rows, event) {
      const threadId = threadIdOf(event.stream);
      const { field, value, replace } = event.data;
      if (field !== "artifacts" || threadId === undefined || !Array.isArray(value)) return;
      if (replace) {
        const row = threadRow(rows, threadId);
        rows.put(threadKey(threadId), { ...row, resets: [...row.resets, event.version] });
      }
      present(
        rows,
        event,
        value.filter((path): path is string => typeof path === "string"),
      );
    },
    ThreadForked: (rows, event) => turn(rows, event as BriefEvent),
    ThreadRewound: (rows, event) => turn(rows, event as BriefEvent),
    ContentRedacted(rows, event) {
      const gone = new Set(event.data.versions);
      const threadId = threadIdOf(event.stream) ?? "";
      for (const { key, row } of rows.list(artifactPrefix(threadId))) {
        if (row.kind !== "artifact" || !row.versions.some((version) => gone.has(version))) continue;
        // A path that was also presented elsewhere would tell what was redacted.
        rows.delete(key);
      }
    },
    ThreadErased(rows, event) {
      const threadId = threadIdOf(event.stream) ?? "";
      for (const { key } of rows.list(artifactPrefix(threadId))) rows.delete(key);
      rows.delete(threadKey(threadId));
    },
  },
});

export interface IndexedArtifact extends Omit<ArtifactRow, "kind"> {
  /** It is in the thread's state now: presented on the branch that the thread stands on, and not replaced since. */
  readonly current: boolean;
}

/**
 * Artifacts of one thread or of all, the last presented first. A fork's list begins with its own: look its parent's up
 * by the parent's id.
 *
 * @param query.search part of the path, in any case
 */
export async function readArtifacts(
  view: ProjectionView<ArtifactIndexRow>,
  query: { readonly threadId?: string; readonly search?: string } = {},
): Promise<readonly IndexedArtifact[]> {
  const { threadId, search } = query;
  const prefix = threadId === undefined ? "artifact/" : artifactPrefix(threadId);
  const found = await view.list({ prefix, ...(search !== undefined && { search }) });
  const artifacts = found.flatMap(({ row }) => (row.kind === "artifact" ? [row] : []));
  const onBranch = new Map<string, (version: number) => boolean>();
  for (const id of new Set(artifacts.map((artifact) => artifact.threadId))) {
    const row = await view.get(threadKey(id));
    onBranch.set(id, row?.kind === "thread" ? currentVersions(row) : () => false);
  }
  return artifacts
    .map(({ kind: _, ...artifact }) => {
      const isOn = onBranch.get(artifact.threadId) ?? (() => false);
      return { ...artifact, current: artifact.versions.some(isOn) };
    })
    .sort((a, b) => (a.lastAt < b.lastAt ? 1 : a.lastAt > b.lastAt ? -1 : a.path < b.path ? -1 : 1));
}

function currentVersions(row: Extract<ArtifactIndexRow, { kind: "thread" }>): (version: number) => boolean {
  const segments = ownSegments("", row.turns, row.version);
  const isOn = (version: number) => segments.some(({ from, to }) => from <= version && version <= to);
  const lastReset = row.resets.findLast(isOn) ?? 0;
  return (version) => version >= lastReset && isOn(version);
}

import type { TraceNode } from "../../../../../projections/trace.ts";

/** A node as a row: how deep it stands, and where its bar lies in the time of the whole. */
export interface TraceRow {
  readonly node: TraceNode;
  readonly level: number;
  /** Parts of the whole, 0 to 1. */
  readonly start: number;
  readonly length: number;
  /** Milliseconds since the whole began. */
  readonly after: number;
}

const timeOf = (text: string) => Date.parse(text);

function endOf(node: TraceNode): number {
  const own = node.endedAt === undefined ? timeOf(node.startedAt) : timeOf(node.endedAt);
  const withDuration = timeOf(node.startedAt) + (node.durationMs ?? 0);
  return node.children.reduce((end, child) => Math.max(end, endOf(child)), Math.max(own, withDuration));
}

/**
 * A tree as rows, parents before their children.
 *
 * @param hidden nodes whose children are folded away
 * @param withEvents also plain events, not only runs and calls
 */
export function traceRows(
  root: TraceNode,
  hidden: ReadonlySet<string>,
  withEvents: boolean,
): readonly TraceRow[] {
  const begin = timeOf(root.startedAt);
  const whole = Math.max(1, endOf(root) - begin);
  const rows: TraceRow[] = [];
  const add = (node: TraceNode, level: number) => {
    if (node.kind === "event" && !withEvents) {
      // What an event led to stays: tools of an imported answer have no recorded call of the model above them.
      for (const child of node.children) add(child, level);
      return;
    }
    const after = Math.max(0, timeOf(node.startedAt) - begin);
    const lasts = node.durationMs ?? Math.max(0, endOf(node) - timeOf(node.startedAt));
    const start = Math.min(1, after / whole);
    rows.push({ node, level, start, length: Math.min(1 - start, lasts / whole), after });
    if (hidden.has(node.id)) return;
    for (const child of node.children) add(child, level + 1);
  };
  add(root, 1);
  return rows;
}

/** Children that are shown. */
export function hasChildren(node: TraceNode, withEvents: boolean): boolean {
  return node.children.some(
    (child) => withEvents || child.kind !== "event" || hasChildren(child, withEvents),
  );
}

/** How many nodes of a kind are in a tree. */
export function countOf(node: TraceNode, kind: TraceNode["kind"]): number {
  const own = node.kind === kind ? 1 : 0;
  return node.children.reduce((sum, child) => sum + countOf(child, kind), own);
}

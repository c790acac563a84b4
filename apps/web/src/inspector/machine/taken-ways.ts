import type { StatechartLayout } from "../../machine/statechart-layout.ts";

type Way = StatechartLayout["ways"][number];

/** States in which no run is under way. */
const rest: ReadonlySet<string> = new Set(["idle", "interrupted", "cancelled", "failed"]);

function shortest(ways: readonly Way[], from: string, to: string): readonly Way[] | undefined {
  const paths: Way[][] = ways.filter((way) => way.from === from).map((way) => [way]);
  const seen = new Set([from]);
  for (let path = paths.shift(); path; path = paths.shift()) {
    const last = path.at(-1);
    if (!last) continue;
    if (last.to === to) return path;
    if (seen.has(last.to)) continue;
    seen.add(last.to);
    const soFar = path;
    paths.push(...ways.filter((way) => way.from === last.to).map((way) => [...soFar, way]));
  }
  return undefined;
}

/**
 * The ways of the chart that lead from one recorded state to the next. Phases leave no event of their own, so there may
 * be several: from `afterModel` a completed run goes through `afterAgent` and `settling` to `idle`.
 */
export function takenWays(ways: readonly Way[], from: string, to: string): readonly Way[] {
  // A run that completes always runs its last hooks.
  const throughLastHooks = to === "idle" && !rest.has(from) && from !== "afterAgent" && from !== "settling";
  const stops = throughLastHooks ? [from, "afterAgent", to] : [from, to];
  const taken: Way[] = [];
  for (const [index, stop] of stops.slice(1).entries()) {
    const part = shortest(ways, stops[index] ?? from, stop);
    if (!part) return [];
    taken.push(...part);
  }
  return taken;
}

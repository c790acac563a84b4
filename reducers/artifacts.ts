import { ArtifactsPresented } from "../events/artifacts.ts";
import type { DataOf } from "../events/define-event.ts";
import { type Accumulator, defineReducer } from "./define-reducer.ts";

type Paths = readonly string[];

function union(current: Paths, added: Paths): Paths {
  if (added.length === 0) return current;
  const all = new Set([...current, ...added]);
  return all.size === current.length ? current : [...all];
}

function accumulate(initial: Paths): Accumulator<Paths> {
  let seen: Set<string> | undefined;
  return {
    apply(event) {
      if (event.type !== "ArtifactsPresented") return;
      const { paths } = event.data as DataOf<typeof ArtifactsPresented>;
      if (paths.length === 0) return;
      seen ??= new Set(initial);
      for (const path of paths) seen.add(path);
    },
    value: () => (seen === undefined || seen.size === initial.length ? initial : [...seen]),
  };
}

/** Presented files in order of their first presentation, never twice. An empty list is no clear. */
export const artifacts = defineReducer<Paths>({
  field: "artifacts",
  initial: [],
  algebra: "grow-only-set",
  on: { ArtifactsPresented: (current, data) => union(current, data.paths) },
  accumulate,
  merge: (current, update) => (Array.isArray(update) ? union(current, update) : current),
  fromUpdate(update, current) {
    if (update == null) return [];
    if (!Array.isArray(update)) return [ArtifactsPresented({ paths: update as string[] })];
    const known = new Set(current);
    const paths = update.filter((path) => !known.has(path));
    return paths.length === 0 ? [] : [ArtifactsPresented({ paths })];
  },
});

import type { Ratio } from "./tables/table.ts";

export type StoredRatio = Ratio & { readonly met: boolean };

export interface WorseRatio {
  readonly name: string;
  readonly value: number;
  readonly before: number;
}

const tolerated = 0.2;

/** The ratios that are more than 20 % worse than those of the same name before. Ratios without a "before" are left out. */
export function compareWithBaseline(now: readonly Ratio[], before: readonly Ratio[]): readonly WorseRatio[] {
  const known = new Map(before.map(({ name, value }) => [name, value]));
  return now.flatMap(({ name, value, target }) => {
    const old = known.get(name);
    if (old === undefined) return [];
    const worse = "atLeast" in target ? value < old * (1 - tolerated) : value > old * (1 + tolerated);
    return worse ? [{ name, value, before: old }] : [];
  });
}

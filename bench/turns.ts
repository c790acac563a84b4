/** What two sides did for each second, one right after the other. */
export interface Turn {
  readonly ours: number;
  readonly theirs: number;
}

export const ratioOf = ({ ours, theirs }: Turn): number => ours / theirs;

/** The turn with the middle one of the ratios: other work on the machine comes and goes in between. */
export function middleOf(turns: readonly Turn[]): Turn {
  const sorted = turns.toSorted((a, b) => ratioOf(a) - ratioOf(b));
  return sorted[Math.floor(sorted.length / 2)] ?? { ours: 0, theirs: 0 };
}

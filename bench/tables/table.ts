/** A ratio that a run measured, with what it should be. */
export interface Ratio {
  readonly name: string;
  readonly value: number;
  /** `atLeast`: more is better; `atMost`: less is better. */
  readonly target: { readonly atLeast: number } | { readonly atMost: number };
  readonly unit: string;
}

interface BenchTable {
  readonly title: string;
  readonly head: readonly string[];
  readonly rows: readonly (readonly string[])[];
}

interface ChartLine {
  readonly name: string;
  readonly points: readonly (readonly [x: number, y: number])[];
}

/** Lines over N, both axes logarithmic. */
export interface Chart {
  readonly file: string;
  readonly title: string;
  readonly x: string;
  readonly y: string;
  readonly lines: readonly ChartLine[];
}

export interface Measured {
  readonly tables: readonly BenchTable[];
  readonly ratios: readonly Ratio[];
  readonly charts: readonly Chart[];
}

export interface BenchOptions {
  /** Turns of the one thread, ascending. */
  readonly turns: readonly number[];
  readonly log: (line: string) => void;
}

export const isMet = ({ value, target }: Ratio): boolean =>
  "atLeast" in target ? value >= target.atLeast : value <= target.atMost;

/** Three significant digits, with separators. */
export function number(value: number): string {
  return value.toLocaleString("en", { maximumSignificantDigits: 3 });
}

export const kilobytes = (bytes: number): string => `${number(bytes / 1_000)} kB`;
export const milliseconds = (ms: number): string => `${number(ms)} ms`;

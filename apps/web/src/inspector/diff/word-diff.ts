import { diffArrays } from "diff";

/** A part of two texts: of both, or of one. */
export interface TextPart {
  readonly kind: "same" | "added" | "removed";
  readonly text: string;
}

const segmenter = new Intl.Segmenter(undefined, { granularity: "word" });
const wordsOf = (text: string) => Array.from(segmenter.segment(text), ({ segment }) => segment);

/**
 * Two texts word by word, in languages without spaces too; undefined: they are too different for that.
 *
 * @example
 * wordDiff("a red tea", "a green tea"); // same "a ", removed "red", added "green", same " tea"
 */
export function wordDiff(before: string, after: string): readonly TextPart[] | undefined {
  const parts = diffArrays(wordsOf(before), wordsOf(after), { maxEditLength: 3_000, timeout: 200 });
  return parts?.map(({ added, removed, value }) => ({
    kind: added ? "added" : removed ? "removed" : "same",
    text: value.join(""),
  }));
}

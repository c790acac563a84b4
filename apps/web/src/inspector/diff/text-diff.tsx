import { useMemo } from "react";
import type { ChangedText } from "../../../../../projections/change-outline.ts";
import { useWords } from "../../i18n/language.ts";
import { useNumber } from "../../i18n/shown-time.ts";
import { InertText } from "../../text/inert-text.tsx";
import { wordDiff } from "./word-diff.ts";
import { diffWords } from "./words.ts";

/** Characters that are the same and are shown at either end of a longer part. */
const shownSame = 120;

function Skipped({ count }: { readonly count: number }) {
  const words = useWords(diffWords);
  const number = useNumber();
  return <span className="text-skipped">⋯ {words.skipped(number(count))} ⋯</span>;
}

function Same({ text }: { readonly text: string }) {
  if (text.length <= 3 * shownSame) return <InertText text={text} />;
  return (
    <>
      <InertText text={text.slice(0, shownSame)} />
      <Skipped count={text.length - 2 * shownSame} />
      <InertText text={text.slice(-shownSame)} />
    </>
  );
}

/** Two texts as one, with the words that went and came. */
export function TextDiff({ text }: { readonly text: ChangedText }) {
  const words = useWords(diffWords);
  const parts = useMemo(() => wordDiff(text.before, text.after), [text]);
  return (
    <div className="text-diff" dir="auto">
      {text.skippedBefore > 0 && <Skipped count={text.skippedBefore} />}
      {parts ? (
        parts.map(({ kind, text: part }, index) => {
          const key = `${index}`;
          if (kind === "added")
            return (
              <ins key={key}>
                <InertText text={part} />
              </ins>
            );
          if (kind === "removed")
            return (
              <del key={key}>
                <InertText text={part} />
              </del>
            );
          return <Same key={key} text={part} />;
        })
      ) : (
        <>
          <p className="quiet">{words.tooDifferent}</p>
          <del>
            <InertText text={text.before} />
          </del>
          <ins>
            <InertText text={text.after} />
          </ins>
        </>
      )}
      {text.skippedAfter > 0 && <Skipped count={text.skippedAfter} />}
    </div>
  );
}

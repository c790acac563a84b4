import { useMemo } from "react";
import { useWords } from "../../i18n/language.ts";
import { useNumber } from "../../i18n/shown-time.ts";
import { Icon } from "../../parts/icon.tsx";
import { go } from "../../place/place.ts";
import { useShownVersion, useThreadView } from "../../thread-view/use-thread.tsx";
import { seenWords } from "./words.ts";

/** A list of more calls than these is not chosen from by eye. */
const maxOptions = 500;

/** Chooses a model call of the thread; the page goes to its version. */
export function CallChooser() {
  const words = useWords(seenWords);
  const number = useNumber();
  const { events } = useThreadView();
  const { version } = useShownVersion();
  const calls = useMemo(
    () => events.filter(({ type }) => type === "ModelCallStarted").map((event) => event.version),
    [events],
  );
  const place = calls.findLastIndex((at) => at <= version);
  const show = (index: number) => {
    const chosen = calls[index];
    if (chosen !== undefined) go({ at: String(chosen) });
  };
  if (calls.length === 0) return null;
  const first = Math.max(0, Math.min(place - maxOptions / 2, calls.length - maxOptions));
  return (
    <div className="call-chooser">
      <button
        type="button"
        className="icon-button"
        aria-label={words.previous}
        title={words.previous}
        disabled={place <= 0}
        onClick={() => show(place - 1)}
      >
        <Icon name="back" size={14} />
      </button>
      <select
        className="field"
        aria-label={words.call}
        value={place === -1 ? "" : place}
        onChange={(event) => show(Number(event.target.value))}
      >
        {place === -1 && <option value="">–</option>}
        {calls.slice(first, first + maxOptions).map((at, index) => (
          <option key={at} value={first + index}>
            {words.option(number(first + index + 1), number(at))}
          </option>
        ))}
      </select>
      <span className="quiet">/ {number(calls.length)}</span>
      <button
        type="button"
        className="icon-button"
        aria-label={words.next}
        title={words.next}
        disabled={place === -1 || place === calls.length - 1}
        onClick={() => show(place + 1)}
      >
        <Icon name="chevron" size={14} />
      </button>
    </div>
  );
}

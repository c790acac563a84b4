import { memo, type ReactNode, useEffect, useMemo, useRef, useState } from "react";
import { useValue } from "../api/value-store.ts";
import { language, useWords } from "../i18n/language.ts";
import { useNumber } from "../i18n/shown-time.ts";
import { useKeys } from "../keys/keys.ts";
import { Icon } from "../parts/icon.tsx";
import { go, usePlace } from "../place/place.ts";
import { visibleText } from "../text/visible-text.ts";
import type { IndexedEvent } from "../thread-view/indexed-events.ts";
import { kindWord } from "./event-kinds.ts";
import { filterOf, isFiltering } from "./filter.ts";
import { timelineWords } from "./words.ts";
import "./filter-bar.css";

/** A button with a list below it that closes when something else is used. */
function Menu({
  label,
  count,
  children,
}: {
  readonly label: string;
  readonly count: number;
  readonly children: ReactNode;
}) {
  const details = useRef<HTMLDetailsElement>(null);
  useEffect(() => {
    const close = (event: Event) => {
      const element = details.current;
      if (!element?.open) return;
      if (event instanceof KeyboardEvent) {
        if (event.key !== "Escape") return;
        element.open = false;
        element.querySelector("summary")?.focus();
      } else if (event.target instanceof Node && !element.contains(event.target)) element.open = false;
    };
    document.addEventListener("pointerdown", close);
    document.addEventListener("keydown", close);
    return () => {
      document.removeEventListener("pointerdown", close);
      document.removeEventListener("keydown", close);
    };
  }, []);
  return (
    <details ref={details} className="menu">
      <summary className="button" data-active={count > 0 || undefined}>
        {label}
        {count > 0 && <span className="menu-count">{count}</span>}
      </summary>
      <div className="menu-list">{children}</div>
    </details>
  );
}

function Choices({
  label,
  options,
  chosen,
  nameOf,
  onChange,
}: {
  readonly label: string;
  readonly options: readonly (readonly [name: string, count: number])[];
  readonly chosen: readonly string[];
  readonly nameOf: (name: string) => string;
  readonly onChange: (chosen: readonly string[]) => void;
}) {
  const number = useNumber();
  return (
    <Menu label={label} count={chosen.length}>
      {options.map(([name, count]) => (
        <label key={name} className="menu-option">
          <input
            type="checkbox"
            checked={chosen.includes(name)}
            onChange={(event) =>
              onChange(event.target.checked ? [...chosen, name] : chosen.filter((one) => one !== name))
            }
          />
          <span>{nameOf(name)}</span>
          <span className="quiet">{number(count)}</span>
        </label>
      ))}
    </Menu>
  );
}

/** Runs that the list offers: the newest. Older ones are chosen where an event names them. */
const offeredRuns = 100;

const RunSelect = memo(function RunSelect({
  runs,
  chosen,
}: {
  readonly runs: readonly string[];
  readonly chosen: string | undefined;
}) {
  const words = useWords(timelineWords);
  const number = useNumber();
  const first = Math.max(0, runs.length - offeredRuns);
  const offered = runs.map((run, index) => [run, index + 1] as const);
  const shown = offered.filter(([run], index) => index >= first || run === chosen).reverse();
  return (
    <select
      className="field run-select"
      aria-label={words.run}
      value={chosen ?? ""}
      onChange={(event) => go({ run: event.target.value })}
    >
      <option value="">{words.allRuns}</option>
      {shown.map(([run, ordinal]) => (
        <option key={run} value={run}>
          {words.runNumber(number(ordinal))}
        </option>
      ))}
    </select>
  );
});

function countsOf(names: Iterable<string>): (readonly [string, number])[] {
  const counts = new Map<string, number>();
  for (const name of names) counts.set(name, (counts.get(name) ?? 0) + 1);
  return [...counts].sort((a, b) => b[1] - a[1]);
}

/** Filters of the timeline; they stand in the address. */
export function FilterBar({
  events,
  shown,
  searching,
  folding,
}: {
  readonly events: readonly IndexedEvent[];
  readonly shown: number;
  readonly searching: boolean;
  /** Whether all runs are folded, and what folds or unfolds them; undefined: there are none to fold. */
  readonly folding: { readonly isFolded: boolean; readonly toggle: () => void } | undefined;
}) {
  const words = useWords(timelineWords);
  const number = useNumber();
  const chosen = useValue(language);
  const place = usePlace();
  const filter = filterOf(place);
  const input = useRef<HTMLInputElement>(null);
  const [typed, setTyped] = useState(place.text ?? "");
  // What is typed leads, unless the address was changed by something else.
  useEffect(() => {
    setTyped((now) => (now.trim() === (place.text ?? "") ? now : (place.text ?? "")));
  }, [place.text]);
  useEffect(() => {
    const timer = window.setTimeout(() => go({ text: typed.trim() }, { replace: true }), 300);
    return () => window.clearTimeout(timer);
  }, [typed]);
  const types = useMemo(() => countsOf(events.map(({ type }) => type)), [events]);
  const emitters = useMemo(() => countsOf(events.map(({ by }) => by)), [events]);
  const runs = useMemo(
    () => [...new Set(events.flatMap(({ run }) => (run === undefined ? [] : [run])))],
    [events],
  );
  useKeys([{ keys: ["/"], does: words.keyFilter, group: words.group, run: () => input.current?.focus() }]);
  return (
    <search className="filter-bar">
      <div className="filter-text">
        <Icon name="search" size={14} />
        <input
          ref={input}
          className="field"
          type="search"
          aria-label={words.filterText}
          placeholder={words.filterText}
          value={typed}
          onChange={(event) => setTyped(event.target.value)}
        />
      </div>
      <Choices
        label={words.types}
        options={types}
        chosen={filter.types}
        nameOf={(type) => visibleText(kindWord(type, chosen))}
        onChange={(all) => go({ type: all.join(",") })}
      />
      <Choices
        label={words.who}
        options={emitters}
        chosen={filter.by}
        nameOf={visibleText}
        onChange={(all) => go({ by: all.join(",") })}
      />
      {runs.length > 1 && <RunSelect runs={runs} chosen={filter.run} />}
      {isFiltering(filter) && (
        <span className="filter-result" role="status">
          {searching ? words.searching : words.shownOf(number(shown), number(events.length))}
          <button
            type="button"
            className="icon-button"
            aria-label={words.clear}
            title={words.clear}
            onClick={() => go({ type: undefined, by: undefined, run: undefined, text: undefined })}
          >
            <Icon name="close" size={14} />
          </button>
        </span>
      )}
      {folding && (
        <button
          type="button"
          className="icon-button"
          aria-label={folding.isFolded ? words.unfold : words.fold}
          title={folding.isFolded ? words.unfold : words.fold}
          onClick={folding.toggle}
        >
          <Icon name={folding.isFolded ? "unfold" : "fold"} />
        </button>
      )}
    </search>
  );
}

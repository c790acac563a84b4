import type { RecordedEvent } from "../../../../events/envelope.ts";
import { useValue } from "../api/value-store.ts";
import { language, useWords } from "../i18n/language.ts";
import { clockTime, useNumber } from "../i18n/shown-time.ts";
import { Icon } from "../parts/icon.tsx";
import { PlaceLink } from "../place/place-link.tsx";
import { InertText } from "../text/inert-text.tsx";
import { visibleText } from "../text/visible-text.ts";
import { kindOf, kindWord } from "./event-kinds.ts";
import { eventSummary } from "./event-summary.ts";
import type { TimelineRow } from "./timeline-rows.ts";
import { timelineWords } from "./words.ts";

/** What a row says besides its event. */
export interface RowMarks {
  readonly redacted: boolean;
  readonly abandoned: boolean;
  /** Names that were given to this version. */
  readonly names: readonly string[];
  /** Version that a rewind goes back to. */
  readonly rewoundTo: number | undefined;
  /** Place that a fork stands on. */
  readonly forkedFrom: { readonly thread: string; readonly version: number } | undefined;
}

/** One event of the timeline. */
export function EventRow({
  row,
  brief,
  marks,
  now,
  onFold,
}: {
  readonly row: Extract<TimelineRow, { kind: "event" }>;
  readonly brief: RecordedEvent | undefined;
  readonly marks: RowMarks;
  readonly now: number;
  readonly onFold: (key: string) => void;
}) {
  const words = useWords(timelineWords);
  const number = useNumber();
  const chosen = useValue(language);
  const { event, step } = row;
  const kind = kindOf(event.type);
  const summary = brief ? eventSummary(brief) : "";
  const time = clockTime(event.at, now, chosen);
  return (
    <>
      <span className="row-version">{event.version}</span>
      <span className="row-fold">
        {step && (
          <button
            type="button"
            className="fold-button"
            tabIndex={-1}
            aria-expanded={!step.folded}
            aria-label={words.eventCount(number(step.count))}
            title={words.eventCount(number(step.count))}
            onClick={(click) => {
              click.stopPropagation();
              onFold(step.key);
            }}
          >
            <Icon name="chevron" size={12} />
          </button>
        )}
      </span>
      <span className={`row-kind family-${kind.family} tone-${kind.tone ?? "none"}`} title={event.type}>
        <Icon name={kind.icon} size={15} />
        <span>{kindWord(event.type, chosen)}</span>
      </span>
      <span className="row-summary">
        {marks.names.map((name) => (
          <span key={name} className="row-badge named">
            <Icon name="flag" size={11} />
            <InertText text={name} />
          </span>
        ))}
        {marks.redacted && (
          <span className="row-badge" title={words.redactedHint}>
            {words.redacted}
          </span>
        )}
        {marks.abandoned && (
          <span className="row-badge muted" title={words.abandonedHint}>
            {words.abandoned}
          </span>
        )}
        {marks.rewoundTo !== undefined && (
          <PlaceLink className="row-link" to={{ at: String(marks.rewoundTo) }}>
            {words.backTo(number(marks.rewoundTo))}
          </PlaceLink>
        )}
        {marks.forkedFrom && (
          <PlaceLink
            className="row-link"
            to={{ thread: marks.forkedFrom.thread, at: String(marks.forkedFrom.version) }}
          >
            {words.parent(`${marks.forkedFrom.thread}@${marks.forkedFrom.version}`)}
          </PlaceLink>
        )}
        {marks.rewoundTo === undefined && !marks.forkedFrom && <InertText text={summary} />}
      </span>
      <span className="row-by" title={visibleText(event.by)}>
        <InertText text={event.by} />
      </span>
      <time
        className="row-time"
        dateTime={new Date(event.at).toISOString()}
        title={new Date(event.at).toISOString()}
      >
        {time}
      </time>
    </>
  );
}

/** Heading of a run. */
export function RunRow({
  row,
  now,
  onFold,
}: {
  readonly row: Extract<TimelineRow, { kind: "run" }>;
  readonly now: number;
  readonly onFold: (key: string) => void;
}) {
  const words = useWords(timelineWords);
  const number = useNumber();
  const chosen = useValue(language);
  return (
    <>
      <button
        type="button"
        className="fold-button"
        tabIndex={-1}
        aria-expanded={!row.folded}
        aria-label={words.runNumber(number(row.ordinal))}
        onClick={(click) => {
          click.stopPropagation();
          onFold(row.key);
        }}
      >
        <Icon name="chevron" size={13} />
      </button>
      <span className="run-name">{words.runNumber(number(row.ordinal))}</span>
      <span className={`run-end end-${row.end}`}>{words[row.end]}</span>
      <span className="run-facts">{words.eventCount(number(row.count))}</span>
      <span className="run-id mono">
        <InertText text={row.run} />
      </span>
      <time className="row-time" dateTime={new Date(row.at).toISOString()}>
        {clockTime(row.at, now, chosen)}
      </time>
    </>
  );
}

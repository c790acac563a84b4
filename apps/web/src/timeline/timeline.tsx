import { useVirtualizer } from "@tanstack/react-virtual";
import {
  type KeyboardEvent,
  type MouseEvent,
  useCallback,
  useEffect,
  useLayoutEffect,
  useMemo,
  useRef,
  useState,
} from "react";
import { logApi } from "../api/log-api.ts";
import { useValue } from "../api/value-store.ts";
import { useWords } from "../i18n/language.ts";
import { useNow, useNumber } from "../i18n/shown-time.ts";
import { useKeys } from "../keys/keys.ts";
import { Icon } from "../parts/icon.tsx";
import { Empty } from "../parts/notices.tsx";
import { go, usePlace } from "../place/place.ts";
import { useReading } from "../thread-view/use-reading.ts";
import { useOpenThread, useShownVersion, useThreadView } from "../thread-view/use-thread.tsx";
import { EventRow, RunRow } from "./event-row.tsx";
import { filterEvents, filterOf } from "./filter.ts";
import { FilterBar } from "./filter-bar.tsx";
import { createMarkReader } from "./row-marks.ts";
import { rowOfVersion, type TimelineRow, timelineRows } from "./timeline-rows.ts";
import { timelineWords } from "./words.ts";
import "./timeline.css";

const rowHeight = 30;
/** Pixels from the end within which the timeline still counts as being there. */
const nearEnd = 24;

/** Versions whose event holds a text. */
function useFound(thread: string, text: string | undefined, head: number) {
  const key = text === undefined ? undefined : JSON.stringify([thread, text, head]);
  const { value, pending } = useReading(
    key,
    (signal) => logApi.grep(thread, { text: text ?? "", limit: 10_000 }, { signal }),
    { delayMs: 40 },
  );
  const found = useMemo(() => (value ? new Set(value.versions) : undefined), [value]);
  return { found, searching: pending };
}

/** Events of the thread, oldest first. The newest are read first; what happens is added at the end. */
export function Timeline() {
  const words = useWords(timelineWords);
  const number = useNumber();
  const now = useNow();
  const opened = useOpenThread();
  const view = useThreadView();
  const place = usePlace();
  const { version, followsHead } = useShownVersion();
  useValue(opened.briefs);
  const { events, head, marks, current, loadingOlder } = view;
  const [folded, setFolded] = useState<ReadonlySet<string>>(new Set());
  const filter = filterOf(place);
  const { found, searching } = useFound(view.thread, filter.text, head);
  const filterKey = JSON.stringify(filter);
  // biome-ignore lint/correctness/useExhaustiveDependencies: the key stands for the filter
  const shown = useMemo(() => filterEvents(events, filter, found), [events, filterKey, found]);
  const rows = useMemo(() => timelineRows(events, shown, folded), [events, shown, folded]);
  const marksOf = useMemo(() => createMarkReader(marks, current), [marks, current]);

  const scroller = useRef<HTMLDivElement>(null);
  const virtualizer = useVirtualizer({
    count: rows.length,
    getScrollElement: () => scroller.current,
    estimateSize: () => rowHeight,
    overscan: 8,
    getItemKey: (index) => rows[index]?.key ?? index,
  });
  const items = virtualizer.getVirtualItems();
  const shownRow = rowOfVersion(rows, version);

  /** Whether the end is in sight, and the last version that was seen there. */
  const [atEnd, setAtEnd] = useState(true);
  const [seen, setSeen] = useState(0);
  const follows = followsHead && atEnd;
  // Whoever goes to the head wants to see it, wherever the list was scrolled to.
  const [followedHead, setFollowedHead] = useState(followsHead);
  if (followedHead !== followsHead) {
    setFollowedHead(followsHead);
    if (followsHead) setAtEnd(true);
  }
  useEffect(() => {
    if (follows || seen === 0) setSeen(head);
  }, [follows, head, seen]);
  const missed = useMemo(
    () => (follows || seen === 0 ? 0 : shown.filter((event) => event.version > seen).length),
    [follows, seen, shown],
  );

  /** The row at the upper edge, so that it stays there when older ones come in above it. */
  const anchor = useRef<{ readonly key: string; readonly offset: number } | undefined>(undefined);
  const remember = () => {
    const element = scroller.current;
    if (!element) return;
    setAtEnd(element.scrollHeight - element.scrollTop - element.clientHeight < nearEnd);
    const index = Math.floor(element.scrollTop / rowHeight);
    const row = rows[index];
    anchor.current = row && { key: row.key, offset: element.scrollTop - index * rowHeight };
  };
  useLayoutEffect(() => {
    const element = scroller.current;
    if (!element) return;
    if (follows) {
      element.scrollTop = element.scrollHeight;
      return;
    }
    const kept = anchor.current;
    const index = kept ? rows.findIndex(({ key }) => key === kept.key) : -1;
    if (kept && index >= 0) element.scrollTop = index * rowHeight + kept.offset;
  }, [rows, follows]);

  // The shown version comes into sight when it moves, not when one scrolls.
  const reveal = useCallback((index: number) => {
    const element = scroller.current;
    if (!element || index < 0) return;
    const top = index * rowHeight;
    const isInSight = top >= element.scrollTop && top + rowHeight <= element.scrollTop + element.clientHeight;
    if (!isInSight) element.scrollTop = top - element.clientHeight / 2 + rowHeight / 2;
  }, []);
  const loaded = events.length > 0;
  const isKnown = (events[0]?.version ?? 0) <= version;
  // biome-ignore lint/correctness/useExhaustiveDependencies: only a move of the version scrolls, and its arrival in the list
  useEffect(() => {
    if (!followsHead && loaded) reveal(shownRow);
  }, [version, followsHead, loaded, isKnown]);

  const fold = (key: string) => {
    const next = new Set(folded);
    if (!next.delete(key)) next.add(key);
    setFolded(next);
  };
  const folding = useMemo(() => {
    const runKeys = rows.flatMap((row) => (row.kind === "run" ? [row.key] : []));
    if (runKeys.length < 2) return undefined;
    const isFolded = runKeys.every((key) => folded.has(key));
    return { isFolded, toggle: () => setFolded(isFolded ? new Set() : new Set(runKeys)) };
  }, [rows, folded]);

  const stepTo = (direction: 1 | -1) => {
    let index = shownRow + direction;
    while (rows[index] && rows[index]?.kind !== "event") index += direction;
    const row = rows[index];
    if (row?.kind === "event") go({ at: String(row.event.version) }, { replace: true });
  };
  useKeys([
    { keys: ["j"], does: words.keyNext, group: words.group, run: () => stepTo(1) },
    { keys: ["k"], does: words.keyPrevious, group: words.group, run: () => stepTo(-1) },
  ]);
  const onKey = (event: KeyboardEvent) => {
    const row = rows[shownRow];
    if (event.key === "ArrowDown") stepTo(1);
    else if (event.key === "ArrowUp") stepTo(-1);
    else if (event.key === "Home") go({ at: "1" }, { replace: true });
    else if (event.key === "End") go({ at: undefined }, { replace: true });
    else if (event.key === "ArrowLeft" || event.key === "ArrowRight") {
      const heading = rows.findLast((one, index) => index <= shownRow && one.kind === "run");
      if (heading?.kind !== "run" || heading.folded !== (event.key === "ArrowRight")) return;
      if (row && row.kind === "event" && !row.inRun) return;
      fold(heading.key);
    } else return;
    event.preventDefault();
  };

  const toEnd = () => {
    setAtEnd(true);
    go({ at: undefined });
    const element = scroller.current;
    if (element) element.scrollTop = element.scrollHeight;
  };
  const rowId = (index: number) => `row-${index}`;
  const isInSight = items.some(({ index }) => index === shownRow);
  return (
    <div className="timeline">
      <FilterBar events={events} shown={shown.length} searching={searching} folding={folding} />
      {rows.length === 0 && !searching && (
        <Empty icon="filter" title={words.noneTitle}>
          <p>{words.noneText}</p>
        </Empty>
      )}
      <div className="timeline-frame">
        {loadingOlder && (
          <p className="timeline-older" role="status">
            {words.older}
          </p>
        )}
        <div
          ref={scroller}
          className="timeline-scroller"
          role="tree"
          aria-label={words.label}
          tabIndex={0}
          onScroll={remember}
          onKeyDown={onKey}
          {...(isInSight && { "aria-activedescendant": rowId(shownRow) })}
        >
          <div className="timeline-rows" role="presentation" style={{ height: virtualizer.getTotalSize() }}>
            {items.map((item) => {
              const row = rows[item.index];
              return (
                row && (
                  <Row
                    key={item.key}
                    id={rowId(item.index)}
                    row={row}
                    start={item.start}
                    chosen={item.index === shownRow}
                    later={laterThan(row, version)}
                    place={item.index + 1}
                    size={rows.length}
                  >
                    {row.kind === "event" ? (
                      <EventRow
                        row={row}
                        brief={opened.brief(row.event.version)}
                        marks={marksOf(row.event)}
                        now={now}
                        onFold={fold}
                      />
                    ) : row.kind === "run" ? (
                      <RunRow row={row} now={now} onFold={fold} />
                    ) : (
                      <span className="row-gap">
                        <Icon name="gap" />
                        {words.gap(number(row.from), number(row.to))}
                      </span>
                    )}
                  </Row>
                )
              );
            })}
          </div>
        </div>
        <div className="timeline-corner">
          {missed > 0 && (
            <button type="button" className="button primary new-events" onClick={toEnd}>
              <Icon name="arrowDown" size={14} />
              {words.newEvents(number(missed))}
            </button>
          )}
        </div>
      </div>
    </div>
  );
}

function laterThan(row: TimelineRow, version: number): boolean {
  return (row.kind === "event" ? row.event.version : row.from) > version;
}

function Row({
  id,
  row,
  start,
  chosen,
  later,
  place,
  size,
  children,
}: {
  readonly id: string;
  readonly row: TimelineRow;
  readonly start: number;
  readonly chosen: boolean;
  readonly later: boolean;
  readonly place: number;
  readonly size: number;
  readonly children: React.ReactNode;
}) {
  const choose = (event: MouseEvent) => {
    // A link in the row leads elsewhere.
    if (event.defaultPrevented) return;
    if (row.kind === "event") go({ at: String(row.event.version) });
    else if (row.kind === "run") go({ at: String(row.folded ? row.to : row.from) });
  };
  return (
    // biome-ignore lint/a11y/useKeyWithClickEvents: the tree moves with the arrow keys
    <div
      id={id}
      role="treeitem"
      aria-level={row.kind === "event" && row.inRun ? 2 : 1}
      aria-posinset={place}
      aria-setsize={size}
      aria-selected={chosen}
      tabIndex={-1}
      {...(row.kind === "run" && { "aria-expanded": !row.folded })}
      className={`timeline-row kind-${row.kind}`}
      data-version={row.kind === "event" ? row.event.version : undefined}
      data-in-run={(row.kind === "event" && row.inRun) || undefined}
      data-later={later || undefined}
      style={{ transform: `translateY(${start}px)` }}
      onClick={choose}
    >
      {children}
    </div>
  );
}

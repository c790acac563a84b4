import { useVirtualizer } from "@tanstack/react-virtual";
import { useEffect, useRef, useState } from "react";
import type { ThreadRow } from "../api/log-api.ts";
import { createValueStore, useValue } from "../api/value-store.ts";
import { language, useWords } from "../i18n/language.ts";
import { relativeTime, useNow, useNumber } from "../i18n/shown-time.ts";
import { useKeys } from "../keys/keys.ts";
import { Icon } from "../parts/icon.tsx";
import { Empty, Failed, Loading } from "../parts/notices.tsx";
import { go, usePlace } from "../place/place.ts";
import { PlaceLink } from "../place/place-link.tsx";
import { shellWords } from "../shell/words.ts";
import { InertText } from "../text/inert-text.tsx";
import { visibleText } from "../text/visible-text.ts";
import { type ListedThreads, openListedThreads, type ThreadsPage } from "./listed-threads.ts";
import { ThreadStatus } from "./thread-status.tsx";
import { threadsWords } from "./words.ts";
import "./threads-list.css";

const nothingYet = createValueStore<ThreadsPage>({ rows: [], next: null, loading: true, problem: undefined });
const rowHeight = 68;

function ThreadLink({
  row,
  chosen,
  now,
}: {
  readonly row: ThreadRow;
  readonly chosen: boolean;
  readonly now: number;
}) {
  const words = useWords(threadsWords);
  const number = useNumber();
  const chosenLanguage = useValue(language);
  const title = row.title ?? words.untitled;
  return (
    <PlaceLink
      className="thread-link"
      to={{ thread: row.threadId, screen: undefined }}
      title={visibleText(`${title}\n${row.threadId}`)}
      {...(chosen && { current: "page" as const })}
    >
      <span className="thread-title" data-untitled={row.title === null || undefined}>
        {row.pinned && <Icon name="star" size={12} />}
        {row.parentThreadId !== null && <Icon name="branch" size={13} />}
        <InertText text={row.title ?? `${words.untitled} · ${row.threadId}`} />
      </span>
      <span className="thread-facts">
        <ThreadStatus status={row.status} />
        <time dateTime={row.updatedAt}>{relativeTime(Date.parse(row.updatedAt), now, chosenLanguage)}</time>
      </span>
      <span className="thread-facts">
        <span>{words.events(number(row.version))}</span>
        <span>{words.messages(number(row.messages))}</span>
      </span>
    </PlaceLink>
  );
}

/** All threads: pinned first, then the newest. Grows while it is scrolled, and follows what happens. */
export function ThreadsList() {
  const words = useWords(threadsWords);
  const shell = useWords(shellWords);
  const place = usePlace();
  const now = useNow();
  const { search } = place;
  const [typed, setTyped] = useState(search ?? "");
  const [opened, setOpened] = useState<ListedThreads>();
  const input = useRef<HTMLInputElement>(null);
  const scroller = useRef<HTMLDivElement>(null);
  useEffect(() => {
    const own = openListedThreads(search);
    setOpened(own);
    return () => own.close();
  }, [search]);
  // What is typed leads, unless the address was changed by something else.
  useEffect(() => {
    setTyped((before) => (before.trim() === (search ?? "") ? before : (search ?? "")));
  }, [search]);
  useEffect(() => {
    const timer = window.setTimeout(() => go({ search: typed.trim() }, { replace: true }), 250);
    return () => window.clearTimeout(timer);
  }, [typed]);
  const { rows, loading, problem } = useValue(opened?.page ?? nothingYet);
  const virtualizer = useVirtualizer({
    count: rows.length,
    getScrollElement: () => scroller.current,
    estimateSize: () => rowHeight,
    overscan: 6,
    getItemKey: (index) => rows[index]?.threadId ?? index,
  });
  const items = virtualizer.getVirtualItems();
  const last = items.at(-1)?.index ?? 0;
  useEffect(() => {
    if (last >= rows.length - 8) opened?.readMore();
  }, [last, rows.length, opened]);
  useKeys([{ keys: ["\\"], does: words.search, group: shell.general, run: () => input.current?.focus() }]);
  return (
    <div className="threads">
      <search className="threads-search">
        <Icon name="search" size={14} />
        <input
          ref={input}
          className="field"
          type="search"
          aria-label={words.search}
          placeholder={words.search}
          value={typed}
          onChange={(event) => setTyped(event.target.value)}
        />
      </search>
      {problem && <Failed problem={problem} />}
      {!problem && rows.length === 0 && loading && <Loading />}
      {!problem && rows.length === 0 && !loading && (
        <Empty icon="thread" title={search === undefined ? words.noneTitle : words.noneFoundTitle}>
          <p>{search === undefined ? words.noneText : words.noneFoundText(visibleText(search))}</p>
        </Empty>
      )}
      <div ref={scroller} className="threads-scroller">
        <ul className="threads-rows" style={{ height: virtualizer.getTotalSize() }}>
          {items.map((item) => {
            const row = rows[item.index];
            return (
              row && (
                <li key={item.key} style={{ transform: `translateY(${item.start}px)`, height: rowHeight }}>
                  <ThreadLink row={row} chosen={row.threadId === place.thread} now={now} />
                </li>
              )
            );
          })}
        </ul>
      </div>
    </div>
  );
}

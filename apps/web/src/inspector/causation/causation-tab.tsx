import { useMemo, useState } from "react";
import type { TraceNode } from "../../../../../projections/trace.ts";
import { logApi } from "../../api/log-api.ts";
import { useValue } from "../../api/value-store.ts";
import { language, localeOf, useWords } from "../../i18n/language.ts";
import { useDuration, useNumber } from "../../i18n/shown-time.ts";
import { Icon, type IconName } from "../../parts/icon.tsx";
import { Empty, Failed, Loading } from "../../parts/notices.tsx";
import { go } from "../../place/place.ts";
import { PlaceLink } from "../../place/place-link.tsx";
import { InertText } from "../../text/inert-text.tsx";
import { visibleText } from "../../text/visible-text.ts";
import { useReading } from "../../thread-view/use-reading.ts";
import { useShownVersion, useThreadView } from "../../thread-view/use-thread.tsx";
import { countOf, hasChildren, type TraceRow, traceRows } from "./trace-rows.ts";
import { causationWords } from "./words.ts";
import "./causation-tab.css";

const icons: Readonly<Record<TraceNode["kind"], IconName>> = {
  run: "run",
  model: "spark",
  tool: "tool",
  event: "square",
};
const statusIcons: Readonly<Record<TraceNode["status"], IconName>> = {
  open: "play",
  ok: "check",
  failed: "cross",
  cancelled: "stop",
  interrupted: "question",
  abandoned: "warn",
};
/** Rows that are put on the page at once. */
const pageRows = 300;

/** Input, output and cached tokens, and what they cost. */
function Spent({ node, currency }: { readonly node: TraceNode; readonly currency: string | undefined }) {
  const words = useWords(causationWords);
  const number = useNumber();
  const chosen = useValue(language);
  const { inputTokens, outputTokens, cachedInputTokens } = node.tokens;
  const all = inputTokens + outputTokens;
  if (all === 0 && node.cost === undefined) return null;
  const hint = words.tokensHint(number(inputTokens), number(outputTokens), number(cachedInputTokens));
  const cost =
    node.cost === undefined
      ? undefined
      : `${new Intl.NumberFormat(localeOf(chosen), { maximumSignificantDigits: 3 }).format(node.cost)} ${visibleText(currency ?? "")}`;
  return (
    <span className="trace-spent" title={hint}>
      {number(all)} {words.tokens}
      {cost !== undefined && ` · ${cost}`}
    </span>
  );
}

function Row({
  row,
  folded,
  foldable,
  onFold,
  thread,
  version,
  currency,
}: {
  readonly row: TraceRow;
  readonly folded: boolean;
  readonly foldable: boolean;
  readonly onFold: () => void;
  readonly thread: string;
  readonly version: number;
  readonly currency: string | undefined;
}) {
  const words = useWords(causationWords);
  const duration = useDuration();
  const { node, level, start, length, after } = row;
  const name = node.kind === "run" ? `${words.run} ${node.id.slice(0, 8)}` : node.name;
  const isHere =
    node.threadId === thread && node.version <= version && version <= (node.endVersion ?? node.version);
  const percent = (part: number) => `${(part * 100).toFixed(3)}%`;
  return (
    <li
      className={`trace-row kind-${node.kind} status-${node.status}`}
      data-level={level}
      data-here={isHere || undefined}
      style={{ "--level": level } as object}
    >
      <div className="trace-name">
        {foldable ? (
          <button
            type="button"
            className="trace-fold"
            aria-expanded={!folded}
            aria-label={`${words.showEffects}: ${visibleText(name)}`}
            onClick={onFold}
          >
            <Icon name="chevron" size={12} />
          </button>
        ) : (
          <span className="trace-fold" />
        )}
        <Icon name={icons[node.kind]} size={14} />
        <PlaceLink
          className="trace-link"
          to={{ ...(node.threadId !== thread && { thread: node.threadId }), at: String(node.version) }}
          {...(isHere && { current: "true" })}
          title={visibleText(node.name)}
        >
          <InertText text={name} />
        </PlaceLink>
        {node.status !== "ok" && (
          <span className="trace-status">
            <Icon name={statusIcons[node.status]} size={13} />
            {words[node.status]}
          </span>
        )}
        <Spent node={node} currency={currency} />
      </div>
      <div className="trace-time">
        <div className="trace-track" aria-hidden="true">
          <div className="trace-bar" style={{ insetInlineStart: percent(start), width: percent(length) }} />
        </div>
        <span className="trace-duration" title={words.began(duration(after))}>
          {node.kind === "event"
            ? `+${duration(after)}`
            : node.durationMs === undefined
              ? "–"
              : duration(node.durationMs)}
        </span>
      </div>
    </li>
  );
}

function Trace({
  root,
  thread,
  version,
  currency,
}: {
  readonly root: TraceNode;
  readonly thread: string;
  readonly version: number;
  readonly currency: string | undefined;
}) {
  const words = useWords(causationWords);
  const number = useNumber();
  const [folded, setFolded] = useState<ReadonlySet<string>>(new Set());
  const [withEvents, setWithEvents] = useState(false);
  const [shown, setShown] = useState(pageRows);
  const rows = useMemo(() => traceRows(root, folded, withEvents), [root, folded, withEvents]);
  const toggle = (id: string) => {
    const next = new Set(folded);
    if (!next.delete(id)) next.add(id);
    setFolded(next);
  };
  return (
    <>
      <div className="trace-summary">
        <span>{words.calls(number(countOf(root, "model")), number(countOf(root, "tool")))}</span>
        <label className="trace-events">
          <input
            type="checkbox"
            checked={withEvents}
            onChange={(event) => setWithEvents(event.target.checked)}
          />
          {words.effects}
        </label>
      </div>
      <ol className="trace">
        {rows.slice(0, shown).map((row) => (
          <Row
            key={row.node.id}
            row={row}
            thread={thread}
            version={version}
            currency={currency}
            foldable={hasChildren(row.node, withEvents)}
            folded={folded.has(row.node.id)}
            onFold={() => toggle(row.node.id)}
          />
        ))}
      </ol>
      {rows.length > shown && (
        <button type="button" className="button" onClick={() => setShown(shown + 5 * pageRows)}>
          {words.more(number(rows.length - shown))}
        </button>
      )}
    </>
  );
}

/** The run of the shown version as a tree: model calls, the tool calls they asked for, and what these led to, in time. */
export function CausationTab() {
  const words = useWords(causationWords);
  const number = useNumber();
  const { thread, head, events } = useThreadView();
  const { version } = useShownVersion();
  const runs = useMemo(
    () => events.filter(({ type, run }) => type === "RunStarted" && run !== undefined),
    [events],
  );
  const place = runs.findLastIndex((run) => run.version <= version);
  const run = runs[place];
  const next = runs[place + 1];
  // What belongs to a run that has ended does not change any more.
  const end = next?.version ?? head;
  const { value, problem, pending } = useReading(
    run === undefined ? undefined : `${thread} ${run.run} ${end}`,
    (signal) => logApi.causation(thread, run?.run, { signal }),
    { delayMs: 80 },
  );
  const show = (index: number) => {
    const chosen = runs[index];
    if (chosen) go({ at: String(chosen.version) });
  };
  if (!run) {
    return (
      <Empty icon="run" title={words.none}>
        <p>{words.noneText}</p>
      </Empty>
    );
  }
  if (problem) return <Failed problem={problem} />;
  const root = value?.nodes[0];
  if (!root) return <Loading />;
  return (
    <div className="tab-body causation-tab" data-run={root.id} aria-busy={pending}>
      <div className="tab-heading">
        <h2>{words.title}</h2>
        <div className="run-chooser">
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
          <span>
            {words.run} {number(place + 1)} / {number(runs.length)}
          </span>
          <button
            type="button"
            className="icon-button"
            aria-label={words.next}
            title={words.next}
            disabled={place >= runs.length - 1}
            onClick={() => show(place + 1)}
          >
            <Icon name="chevron" size={14} />
          </button>
        </div>
      </div>
      <Trace
        key={root.id}
        root={root}
        thread={thread}
        version={version}
        currency={value?.currency ?? undefined}
      />
    </div>
  );
}

import { useMemo, useState } from "react";
import type { Outline } from "../../../../../projections/json-outline.ts";
import type { LastChange } from "../../../../../projections/last-changes.ts";
import { logApi, type ValueSource } from "../../api/log-api.ts";
import { useWords } from "../../i18n/language.ts";
import { useNumber } from "../../i18n/shown-time.ts";
import { Icon } from "../../parts/icon.tsx";
import { Failed, Loading } from "../../parts/notices.tsx";
import { PlaceLink } from "../../place/place-link.tsx";
import { InertText } from "../../text/inert-text.tsx";
import { useReading } from "../../thread-view/use-reading.ts";
import { useShownVersion, useThreadView } from "../../thread-view/use-thread.tsx";
import { useKindWord } from "../../timeline/event-kinds.ts";
import { ValueFacts, ValueView } from "../../value/value-view.tsx";
import { stateWords } from "./words.ts";
import "./state-tab.css";

type Field = Outline & { readonly key: string };

function isEmpty({ kind, size, value }: Outline): boolean {
  if (kind === "null") return true;
  return (kind === "object" || kind === "array" || kind === "string") && size === 0 && value !== undefined;
}

/** Which event a field has its value from, and who emitted it. */
function Since({
  change,
  thread,
}: {
  /** null: nothing ever changed it; undefined: not known yet. */
  readonly change: LastChange | null | undefined;
  readonly thread: string;
}) {
  const words = useWords(stateWords);
  const number = useNumber();
  const word = useKindWord();
  if (change === undefined) return null;
  if (change === null) return <span className="field-since quiet">{words.untouched}</span>;
  return (
    <span className="field-since" {...(change.unsure && { title: words.unsure })}>
      <PlaceLink
        to={{
          ...(change.threadId !== thread && { thread: change.threadId }),
          at: String(change.version),
          tab: "event",
        }}
      >
        {words.since(number(change.version))}
        {change.unsure && "?"}
      </PlaceLink>{" "}
      <span className="quiet">
        {word(change.type)} · <InertText text={change.by} />
      </span>
    </span>
  );
}

function FieldRow({
  field,
  source,
  change,
  isOpen,
  onToggle,
}: {
  readonly field: Field;
  readonly source: ValueSource;
  readonly change: LastChange | null | undefined;
  readonly isOpen: boolean;
  readonly onToggle: () => void;
}) {
  return (
    <section className="state-field" data-field={field.key}>
      <div className="state-field-head">
        <button type="button" className="field-toggle" aria-expanded={isOpen} onClick={onToggle}>
          <Icon name="chevron" size={13} />
          <InertText text={field.key} />
        </button>
        <ValueFacts outline={field} />
        <Since change={change} thread={source.thread} />
      </div>
      {isOpen && (
        <div className="state-value">
          <ValueView source={source} pointer={`/${field.key}`} outline={field} name={field.key} />
        </div>
      )}
    </section>
  );
}

/** The fields of the state at the shown version, each with the event that it has its value from. */
export function StateTab() {
  const words = useWords(stateWords);
  const number = useNumber();
  const { thread, head } = useThreadView();
  const { version } = useShownVersion();
  const [closed, setClosed] = useState<ReadonlySet<string>>(new Set());
  const key = head === 0 ? undefined : `${thread}@${version}`;
  const state = useReading(
    key,
    async (signal) => {
      const source: ValueSource = { kind: "state", thread, at: version };
      return { source, ...(await logApi.outline(source, { pointer: "", limit: 1_000 }, { signal })) };
    },
    { delayMs: 20 },
  );
  const fields = useReading(key, (signal) => logApi.fields(thread, version, { signal }), { delayMs: 120 });
  const changes = useMemo(
    () => new Map((fields.value?.changes ?? []).map((change) => [change.field, change])),
    [fields.value],
  );
  if (state.problem) return <Failed problem={state.problem} />;
  if (!state.value) return <Loading />;
  const { outline, source } = state.value;
  const areRead = fields.value?.version === state.value.version;
  const all = outline.children ?? [];
  const set = all.filter((field) => !isEmpty(field));
  const empty = all.filter(isEmpty);
  const toggle = (name: string) => {
    const next = new Set(closed);
    if (!next.delete(name)) next.add(name);
    setClosed(next);
  };
  return (
    <div className="tab-body state-tab" data-version={state.value.version} aria-busy={state.pending}>
      <div className="tab-heading">
        <h2>{words.at(number(state.value.version))}</h2>
        <CopyState thread={thread} version={state.value.version} />
      </div>
      {set.length === 0 && <p className="quiet state-empty">{words.emptyText}</p>}
      {set.map((field) => (
        <FieldRow
          // Another version may hold another value under the same name.
          key={`${field.key}@${state.value?.version}`}
          field={field}
          source={source}
          change={areRead ? (changes.get(field.key) ?? null) : undefined}
          isOpen={!closed.has(field.key)}
          onToggle={() => toggle(field.key)}
        />
      ))}
      {empty.length > 0 && (
        <section className="state-empties">
          <h3>{words.empty}</h3>
          <ul>
            {empty.map((field) => (
              <li key={field.key} data-field={field.key} data-empty={field.kind}>
                <InertText text={field.key} />
              </li>
            ))}
          </ul>
        </section>
      )}
    </div>
  );
}

function CopyState({ thread, version }: { readonly thread: string; readonly version: number }) {
  const words = useWords(stateWords);
  const [copied, setCopied] = useState(false);
  const copy = async () => {
    const { state } = await logApi.state(thread, version);
    await window.navigator.clipboard.writeText(JSON.stringify(state, null, 2));
    setCopied(true);
    window.setTimeout(() => setCopied(false), 1_500);
  };
  return (
    <button
      type="button"
      className="icon-button"
      aria-label={words.copy}
      title={words.copy}
      onClick={() => void copy().catch(() => undefined)}
    >
      <Icon name={copied ? "check" : "copy"} size={14} />
      {copied && <span role="status">{words.copied}</span>}
    </button>
  );
}

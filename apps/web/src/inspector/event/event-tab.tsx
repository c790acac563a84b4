import { type ReactNode, useState } from "react";
import { logApi, type ValueSource } from "../../api/log-api.ts";
import { useValue } from "../../api/value-store.ts";
import { language, useWords } from "../../i18n/language.ts";
import { clockTime, useNow, useNumber } from "../../i18n/shown-time.ts";
import { Icon } from "../../parts/icon.tsx";
import { Empty, Failed, Loading } from "../../parts/notices.tsx";
import { PlaceLink } from "../../place/place-link.tsx";
import { InertText } from "../../text/inert-text.tsx";
import { useReading } from "../../thread-view/use-reading.ts";
import { useShownVersion, useThreadView } from "../../thread-view/use-thread.tsx";
import { kindOf, kindWord } from "../../timeline/event-kinds.ts";
import { JsonTree } from "../../value/json-tree.tsx";
import { ValueView } from "../../value/value-view.tsx";
import { eventWords } from "./words.ts";
import "./event-tab.css";

function Fact({ name, children }: { readonly name: string; readonly children: ReactNode }) {
  return (
    <>
      <dt>{name}</dt>
      <dd>{children}</dd>
    </>
  );
}

/** The event that led to the shown version: what it holds, and all that is known about it. */
export function EventTab() {
  const words = useWords(eventWords);
  const number = useNumber();
  const now = useNow();
  const chosen = useValue(language);
  const { thread, head } = useThreadView();
  const { version } = useShownVersion();
  const [raw, setRaw] = useState(false);
  const key = head === 0 || version === 0 ? undefined : `${thread}@${version}`;
  const source: ValueSource = { kind: "event", thread, version };
  const reading = useReading(
    key,
    async (signal) => {
      const [about, data] = await Promise.all([
        logApi.aboutEvent(thread, version, { signal }),
        logApi.outline(source, { pointer: "", limit: 200 }, { signal }),
      ]);
      return { ...about, source, outline: data.outline };
    },
    { delayMs: 20 },
  );
  if (version === 0) {
    return (
      <Empty icon="thread" title="0">
        <p>{words.beginning}</p>
      </Empty>
    );
  }
  if (reading.problem) return <Failed problem={reading.problem} />;
  if (!reading.value) return <Loading />;
  const { event, fields, outline } = reading.value;
  const { metadata } = event;
  const kind = kindOf(event.type);
  const isFirst = /^0*$/.test(metadata.previousHash);
  return (
    <div className="tab-body event-tab" data-version={event.version} aria-busy={reading.pending}>
      <div className="tab-heading">
        <h2 className={`event-heading family-${kind.family} tone-${kind.tone ?? "none"}`}>
          <Icon name={kind.icon} />
          {kindWord(event.type, chosen)}
          <span className="quiet">{number(event.version)}</span>
        </h2>
      </div>
      <h3>{words.payload}</h3>
      <ValueView
        key={`${thread}@${event.version}`}
        source={reading.value.source}
        pointer=""
        outline={outline}
        name={event.type}
      />
      <h3>{words.about}</h3>
      <dl className="facts">
        <Fact name={words.type}>
          <InertText text={event.type} />
        </Fact>
        <Fact name={words.by}>
          <InertText text={metadata.by} />
        </Fact>
        <Fact name={words.fields}>
          {fields.length === 0 ? (
            <span className="quiet">{words.noFields}</span>
          ) : (
            <span className="mono">{fields.join(", ")}</span>
          )}
        </Fact>
        <Fact name={words.at}>
          {clockTime(Date.parse(event.recordedAt), now, chosen)}{" "}
          <span className="quiet mono">{event.recordedAt}</span>
        </Fact>
        {metadata.runId !== undefined && (
          <Fact name={words.run}>
            <PlaceLink className="mono" to={{ run: metadata.runId }}>
              <InertText text={metadata.runId} />
            </PlaceLink>
          </Fact>
        )}
        {metadata.step !== undefined && <Fact name={words.step}>{number(metadata.step)}</Fact>}
        <Fact name={words.cause}>
          {metadata.causationId === event.id ? (
            <span className="quiet">{words.ownCause}</span>
          ) : (
            <span className="mono">
              <InertText text={metadata.causationId} />
            </span>
          )}
        </Fact>
        <Fact name={words.id}>
          <span className="mono">
            <InertText text={event.id} />
          </span>
        </Fact>
        <Fact name={words.hash}>
          <span className="mono">{metadata.hash}</span>
        </Fact>
        <Fact name={words.previousHash}>
          {isFirst ? (
            <span className="quiet">{words.noPrevious}</span>
          ) : (
            <span className="mono">{metadata.previousHash}</span>
          )}
        </Fact>
        <Fact name={words.position}>
          <span className="mono">
            <InertText text={event.position} />
          </span>
        </Fact>
        <Fact name={words.schema}>{number(metadata.schema)}</Fact>
        {metadata.traceparent !== undefined && (
          <Fact name={words.trace}>
            <span className="mono">
              <InertText text={metadata.traceparent} />
            </span>
          </Fact>
        )}
      </dl>
      <button type="button" className="button" aria-expanded={raw} onClick={() => setRaw(!raw)}>
        {raw ? words.hideRaw : words.showRaw}
      </button>
      {raw && <RawRecord thread={thread} version={event.version} />}
    </div>
  );
}

/** The record as every wire and export has it; a long one with its long texts cut. */
function RawRecord({ thread, version }: { readonly thread: string; readonly version: number }) {
  const words = useWords(eventWords);
  const { value, problem } = useReading(`${thread}@${version}`, (signal) =>
    logApi.event(thread, version, { signal }),
  );
  if (problem) return <Failed problem={problem} />;
  if (!value) return <Loading />;
  return (
    <div className="raw-record">
      <JsonTree value={value} name={words.raw} depth={3} />
    </div>
  );
}

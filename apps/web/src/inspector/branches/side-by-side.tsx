import { useState } from "react";
import type { RecordedEvent } from "../../../../../events/envelope.ts";
import { type BranchSide, compareApi } from "../../api/compare-api.ts";
import { logApi } from "../../api/log-api.ts";
import { useWords } from "../../i18n/language.ts";
import { useNumber } from "../../i18n/shown-time.ts";
import { Icon } from "../../parts/icon.tsx";
import { Failed, Loading } from "../../parts/notices.tsx";
import { go } from "../../place/place.ts";
import { PlaceLink } from "../../place/place-link.tsx";
import { InertText } from "../../text/inert-text.tsx";
import { useReading } from "../../thread-view/use-reading.ts";
import { kindOf, useKindWord } from "../../timeline/event-kinds.ts";
import { eventSummary } from "../../timeline/event-summary.ts";
import { ChangeList } from "../diff/change-list.tsx";
import { branchesWords } from "./words.ts";

/** Events of a side that are listed at first. */
const firstEvents = 12;

/** Events of a side from its beginning, as many as are wanted. */
async function eventsOf(
  { parts }: BranchSide,
  count: number,
  signal: AbortSignal,
): Promise<readonly (RecordedEvent & { readonly threadId: string })[]> {
  const found: (RecordedEvent & { readonly threadId: string })[] = [];
  for (const { threadId, from, to } of parts) {
    const limit = Math.min(count - found.length, to - from + 1, 500);
    if (limit <= 0) break;
    const { events } = await logApi.briefEvents(threadId, { from, to, limit }, { signal });
    found.push(...events.map((event) => ({ ...event, threadId })));
  }
  return found;
}

function Side({ side, thread }: { readonly side: BranchSide; readonly thread: string }) {
  const words = useWords(branchesWords);
  const number = useNumber();
  const word = useKindWord();
  const [count, setCount] = useState(firstEvents);
  const { at, events: all, fields } = side;
  const isOwn = at.threadId === thread;
  const { value, problem } = useReading(
    `${at.threadId}@${at.version} ${count} ${JSON.stringify(side.parts)}`,
    (signal) => eventsOf(side, count, signal),
  );
  return (
    <section className="side" data-side={`${at.threadId}@${at.version}`}>
      <h4>
        <PlaceLink to={{ ...(!isOwn && { thread: at.threadId }), at: String(at.version) }}>
          {!isOwn && (
            <>
              <InertText text={at.threadId} />@
            </>
          )}
          {isOwn ? words.versions(number(at.version), number(at.version)) : number(at.version)}
        </PlaceLink>
      </h4>
      <p className="quiet">{words.since(number(all))}</p>
      {fields.length > 0 && (
        <p className="side-fields">
          {words.changedFields}: <code>{fields.join(", ")}</code>
        </p>
      )}
      {problem ? (
        <Failed problem={problem} />
      ) : !value ? (
        <Loading />
      ) : value.length === 0 ? (
        <p className="quiet">{words.noEvents}</p>
      ) : (
        <ol className="side-events">
          {value.map((event) => {
            const kind = kindOf(event.type);
            return (
              <li
                key={`${event.threadId}@${event.version}`}
                className={`family-${kind.family} tone-${kind.tone ?? "none"}`}
              >
                <Icon name={kind.icon} size={13} />
                <PlaceLink
                  to={{
                    ...(event.threadId !== thread && { thread: event.threadId }),
                    at: String(event.version),
                  }}
                >
                  {word(event.type)}
                </PlaceLink>
                <span className="side-version quiet">{number(event.version)}</span>
                <span className="side-summary quiet">
                  <InertText text={eventSummary(event).slice(0, 120)} />
                </span>
              </li>
            );
          })}
        </ol>
      )}
      {value && value.length < all && (
        <button type="button" className="button small" onClick={() => setCount(count * 5)}>
          {words.showMore(number(Math.min(4 * count, all - value.length)))}
        </button>
      )}
    </section>
  );
}

function Difference({
  thread,
  version,
  other,
}: {
  readonly thread: string;
  readonly version: number;
  readonly other: string;
}) {
  const words = useWords(branchesWords);
  const [limit, setLimit] = useState(200);
  const { value, problem } = useReading(`${thread}@${version} ${other} ${limit}`, (signal) =>
    compareApi.changes(thread, { at: version, with: other, limit }, { signal }),
  );
  if (problem) return <Failed problem={problem} />;
  if (!value) return <Loading />;
  if (value.changes.length === 0) return <p className="quiet">{words.same}</p>;
  return (
    <ChangeList
      from={value.from}
      to={value.to}
      changes={value.changes}
      leftOut={value.leftOut}
      onMore={() => setLimit(limit * 5)}
    />
  );
}

/** The shown version beside another place: what they have in common, what each did since, how they differ. */
export function SideBySide({
  thread,
  version,
  other,
}: {
  readonly thread: string;
  readonly version: number;
  readonly other: string;
}) {
  const words = useWords(branchesWords);
  const number = useNumber();
  const { value, problem, pending } = useReading(
    `${thread}@${version} ${other}`,
    (signal) => compareApi.compare(thread, { at: version, with: other }, { signal }),
    { delayMs: 60 },
  );
  return (
    <section className="side-by-side" aria-busy={pending} data-with={other}>
      <div className="tab-heading">
        <h3>{words.sideBySide}</h3>
        <button
          type="button"
          className="icon-button"
          aria-label={words.closeCompare}
          title={words.closeCompare}
          onClick={() => go({ with: undefined })}
        >
          <Icon name="close" size={14} />
        </button>
      </div>
      {problem ? (
        <Failed problem={problem} />
      ) : !value ? (
        <Loading />
      ) : (
        <>
          <p className="side-ancestor">
            <Icon name="branch" size={14} />
            {value.ancestor ? (
              <>
                {words.ancestor}:{" "}
                <PlaceLink
                  to={{
                    ...(value.ancestor.threadId !== thread && { thread: value.ancestor.threadId }),
                    at: String(value.ancestor.version),
                  }}
                >
                  {value.ancestor.threadId !== thread && (
                    <>
                      <InertText text={value.ancestor.threadId} />@
                    </>
                  )}
                  {value.ancestor.threadId === thread
                    ? words.versions(number(value.ancestor.version), number(value.ancestor.version))
                    : number(value.ancestor.version)}
                </PlaceLink>
              </>
            ) : (
              words.noAncestor
            )}
          </p>
          <div className="sides">
            <Side key={`left ${version}`} side={value.left} thread={thread} />
            <Side key={`right ${other}`} side={value.right} thread={thread} />
          </div>
          <h3>{words.difference}</h3>
          <Difference key={other} thread={thread} version={version} other={other} />
        </>
      )}
    </section>
  );
}

import type { ThreadPlace } from "../../../../../projections/branches.ts";
import type { ChangedValue, ListedChange } from "../../../../../projections/change-outline.ts";
import type { LastChange } from "../../../../../projections/last-changes.ts";
import { logApi, type ValueSource } from "../../api/log-api.ts";
import { useWords } from "../../i18n/language.ts";
import { useNumber } from "../../i18n/shown-time.ts";
import { Icon, type IconName } from "../../parts/icon.tsx";
import { PlaceLink } from "../../place/place-link.tsx";
import { InertText } from "../../text/inert-text.tsx";
import { useReading } from "../../thread-view/use-reading.ts";
import { ValueFacts, ValueView } from "../../value/value-view.tsx";
import { isMessageType, MessageRole, MessageView } from "../message/message-view.tsx";
import { TextDiff } from "./text-diff.tsx";
import { diffWords } from "./words.ts";
import "./change-list.css";

interface Sides {
  readonly from: ValueSource;
  readonly to: ValueSource;
}

const marks = {
  added: { icon: "plus", word: "added" },
  removed: { icon: "minus", word: "removed" },
  replaced: { icon: "edit", word: "changed" },
  inside: { icon: "edit", word: "changed" },
} as const satisfies Record<ListedChange["kind"], { icon: IconName; word: "added" | "removed" | "changed" }>;

function Mark({ kind }: { readonly kind: ListedChange["kind"] }) {
  const words = useWords(diffWords);
  const { icon, word } = marks[kind];
  return (
    <span className={`change-mark mark-${word}`}>
      <Icon name={icon} size={13} />
      {words[word]}
    </span>
  );
}

/** How many items came, went and changed. */
function Counts({ changes }: { readonly changes: readonly ListedChange[] }) {
  const words = useWords(diffWords);
  const number = useNumber();
  const count = (...kinds: ListedChange["kind"][]) =>
    changes.filter(({ kind }) => kinds.includes(kind)).length;
  const added = count("added");
  const removed = count("removed");
  const changed = count("replaced", "inside");
  const parts = [
    added > 0 && words.countAdded(number(added)),
    removed > 0 && words.countRemoved(number(removed)),
    changed > 0 && words.countChanged(number(changed)),
  ].filter((part) => part !== false);
  return <span className="quiet">{parts.join(" · ")}</span>;
}

function Side({
  value,
  source,
  change,
}: {
  readonly value: ChangedValue;
  readonly source: ValueSource;
  readonly change: ListedChange;
}) {
  const { pointer, outline } = value;
  if (isMessageType(change.item?.type) && outline.kind === "object")
    return <MessageView source={source} pointer={pointer} outline={outline} name={change.key} />;
  return (
    <>
      {outline.value === undefined && <ValueFacts outline={outline} />}
      <ValueView source={source} pointer={pointer} outline={outline} name={change.key} />
    </>
  );
}

/** What an item of a list is: a message by who speaks, others by their id. */
function Name({ change }: { readonly change: ListedChange }) {
  const { item, key } = change;
  if (item === undefined || !/^\d+$/.test(key)) {
    return (
      <code className="change-key">
        <InertText text={key} />
      </code>
    );
  }
  return (
    <>
      {item.type !== undefined && <MessageRole type={item.type} name={item.name} />}
      {item.id !== undefined && (
        <code className="change-id quiet">
          <InertText text={item.id} />
        </code>
      )}
      {item.type === undefined && item.id === undefined && (
        <code className="change-key">
          <InertText text={item.name ?? key} />
        </code>
      )}
    </>
  );
}

/** Of a message of which only the text changed, that text: it needs no row of its own. */
function onlyText({ item, changes = [] }: ListedChange) {
  const [only] = changes;
  return isMessageType(item?.type) && changes.length === 1 && only?.key === "content" ? only.text : undefined;
}

function Body({ change, sides }: { readonly change: ListedChange; readonly sides: Sides }) {
  const { kind, before, after, changes } = change;
  const text = change.text ?? onlyText(change);
  if (text) return <TextDiff text={text} />;
  if (kind === "inside") return <Changes changes={changes ?? []} leftOut={change.leftOut} sides={sides} />;
  return (
    <>
      {before && (
        <del className="change-side">
          <Side value={before} source={sides.from} change={change} />
        </del>
      )}
      {after && (
        <ins className="change-side">
          <Side value={after} source={sides.to} change={change} />
        </ins>
      )}
    </>
  );
}

/** The event that gave a field its value, and who emitted it. */
function LastChanged({ change, thread }: { readonly change: LastChange; readonly thread: string }) {
  const words = useWords(diffWords);
  const number = useNumber();
  const isOther = change.threadId !== thread;
  return (
    <span className="change-since">
      <PlaceLink
        to={{ ...(isOther && { thread: change.threadId }), at: String(change.version), tab: "event" }}
      >
        {words.since(number(change.version))}
        {change.unsure && "?"}
      </PlaceLink>{" "}
      <span className="quiet">
        <InertText text={change.by} />
      </span>
    </span>
  );
}

function Changes({
  changes,
  leftOut,
  sides,
  last,
}: {
  readonly changes: readonly ListedChange[];
  readonly leftOut: number | undefined;
  readonly sides: Sides;
  /** Of fields: the events that they have their values from. */
  readonly last?: readonly LastChange[] | undefined;
}) {
  const number = useNumber();
  return (
    <ul className="changes">
      {changes.map((change) => (
        <li key={`${change.kind} ${change.key}`} className="change" data-kind={change.kind}>
          <div className="change-head">
            <Mark kind={change.kind} />
            <Name change={change} />
            {change.kind === "inside" && !onlyText(change) && <Counts changes={change.changes ?? []} />}
            {last
              ?.filter(({ field }) => field === change.key)
              .map((one) => (
                <LastChanged key={one.field} change={one} thread={sides.to.thread} />
              ))}
          </div>
          <div className="change-body">
            <Body change={change} sides={sides} />
          </div>
        </li>
      ))}
      {leftOut !== undefined && <li className="quiet">+ {number(leftOut)}</li>}
    </ul>
  );
}

/** Changes that are not listed, at any depth. */
function leftOutIn(changes: readonly ListedChange[], own = 0): number {
  return changes.reduce((sum, { changes: inner, leftOut }) => sum + leftOutIn(inner ?? [], leftOut), own);
}

/** What changed, field by field. */
export function ChangeList({
  from,
  to,
  changes,
  leftOut,
  onMore,
}: {
  readonly from: ThreadPlace;
  readonly to: ThreadPlace;
  readonly changes: readonly ListedChange[];
  readonly leftOut: number | undefined;
  readonly onMore: () => void;
}) {
  const words = useWords(diffWords);
  const number = useNumber();
  const sides: Sides = {
    from: { kind: "state", thread: from.threadId, at: from.version },
    to: { kind: "state", thread: to.threadId, at: to.version },
  };
  const missing = leftOutIn(changes, leftOut);
  const last = useReading(
    `${to.threadId}@${to.version}`,
    (signal) => logApi.fields(to.threadId, to.version, { signal }),
    { delayMs: 120 },
  );
  return (
    <div className="change-list">
      <Changes changes={changes} leftOut={leftOut} sides={sides} last={last.value?.changes} />
      {missing > 0 && (
        <button type="button" className="button" onClick={onMore}>
          {words.more(number(missing))}
        </button>
      )}
    </div>
  );
}

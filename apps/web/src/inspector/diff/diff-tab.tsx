import { type FormEvent, useState } from "react";
import type { ThreadPlace } from "../../../../../projections/branches.ts";
import { compareApi } from "../../api/compare-api.ts";
import { useWords } from "../../i18n/language.ts";
import { useNumber } from "../../i18n/shown-time.ts";
import { Icon } from "../../parts/icon.tsx";
import { Empty, Failed, Loading } from "../../parts/notices.tsx";
import { go, usePlace } from "../../place/place.ts";
import { PlaceLink } from "../../place/place-link.tsx";
import { InertText } from "../../text/inert-text.tsx";
import { useReading } from "../../thread-view/use-reading.ts";
import { useShownVersion, useThreadView } from "../../thread-view/use-thread.tsx";
import { ChangeList } from "./change-list.tsx";
import { PatchList } from "./patch-list.tsx";
import { diffWords } from "./words.ts";
import "./diff-tab.css";

const firstChanges = 200;

function PlaceName({ place, thread }: { readonly place: ThreadPlace; readonly thread: string }) {
  const number = useNumber();
  const isOther = place.threadId !== thread;
  return (
    <PlaceLink to={{ ...(isOther && { thread: place.threadId }), at: String(place.version) }}>
      {isOther && (
        <>
          <InertText text={place.threadId} />@
        </>
      )}
      {number(place.version)}
    </PlaceLink>
  );
}

/** With what the shown version is compared. */
function CompareWith({ version }: { readonly version: number }) {
  const words = useWords(diffWords);
  const number = useNumber();
  const { pin } = usePlace();
  const compare = (event: FormEvent<HTMLFormElement>) => {
    event.preventDefault();
    const value = new FormData(event.currentTarget).get("with");
    go({ pin: typeof value === "string" ? value.trim() : undefined });
  };
  return (
    <form className="diff-with" onSubmit={compare}>
      <label>
        <span>{words.compareWith}</span>
        <input
          // Another place in the address is another text here.
          key={pin ?? ""}
          className="field"
          name="with"
          defaultValue={pin ?? ""}
          placeholder={words.versionBefore}
          title={words.placeHint}
          autoComplete="off"
          spellCheck={false}
        />
      </label>
      <button type="submit" className="button">
        {words.compare}
      </button>
      {pin === undefined ? (
        <button
          type="button"
          className="button"
          title={words.pinHint}
          onClick={() => go({ pin: String(version) })}
        >
          <Icon name="pin" size={14} />
          {words.pin(number(version))}
        </button>
      ) : (
        <button type="button" className="button" title={words.unpin} onClick={() => go({ pin: undefined })}>
          <Icon name="close" size={14} />
          {words.versionBefore}
        </button>
      )}
    </form>
  );
}

/** What the shown version changed, or how it differs from any other place. */
export function DiffTab() {
  const words = useWords(diffWords);
  const { thread, head } = useThreadView();
  const { version } = useShownVersion();
  const { pin } = usePlace();
  const [form, setForm] = useState<"readable" | "patch">("readable");
  const [limit, setLimit] = useState(firstChanges);
  // A place that is named by words may move with the head.
  const moving = pin === undefined || /^\d+$/.test(pin) ? "" : ` ${head}`;
  const key =
    head === 0 || (version === 0 && pin === undefined)
      ? undefined
      : `${form} ${limit} ${thread}@${version} ${pin ?? ""}${moving}`;
  const { value, problem, pending } = useReading(
    key,
    async (signal) =>
      form === "readable"
        ? { form, ...(await compareApi.changes(thread, { at: version, with: pin, limit }, { signal })) }
        : { form, ...(await compareApi.patch(thread, { at: version, with: pin }, { signal })) },
    { delayMs: 40 },
  );
  const isSame = value !== undefined && ("changes" in value ? value.changes : value.operations).length === 0;
  return (
    <div className="tab-body diff-tab" data-version={value?.to.version} aria-busy={pending}>
      <div className="tab-heading">
        <h2>
          {words.title}{" "}
          {value && (
            <span className="diff-places">
              <PlaceName place={value.from} thread={thread} /> →{" "}
              <PlaceName place={value.to} thread={thread} />
            </span>
          )}
        </h2>
        <fieldset className="pane-buttons" aria-label={words.form}>
          {(["readable", "patch"] as const).map((one) => (
            <button
              key={one}
              type="button"
              className="pane-button"
              aria-pressed={form === one}
              onClick={() => setForm(one)}
            >
              {words[one]}
            </button>
          ))}
        </fieldset>
      </div>
      <CompareWith version={version} />
      {key === undefined ? (
        <Empty icon="thread" title="0">
          <p>{words.beginning}</p>
        </Empty>
      ) : problem ? (
        <Failed problem={problem} />
      ) : !value ? (
        <Loading />
      ) : isSame ? (
        <Empty icon="check" title={words.same}>
          <p>{words.sameText}</p>
        </Empty>
      ) : "changes" in value ? (
        <ChangeList
          key={`${value.from.threadId}@${value.from.version} ${value.to.version}`}
          from={value.from}
          to={value.to}
          changes={value.changes}
          leftOut={value.leftOut}
          onMore={() => setLimit(limit * 5)}
        />
      ) : (
        <PatchList thread={thread} at={value.to.version} pin={pin} operations={value.operations} />
      )}
    </div>
  );
}

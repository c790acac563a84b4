import { layout } from "virtual:statechart-layout";
import { useMemo } from "react";
import { useValue } from "../../api/value-store.ts";
import { language, useWords } from "../../i18n/language.ts";
import { useNumber } from "../../i18n/shown-time.ts";
import { Failed, Loading } from "../../parts/notices.tsx";
import { PlaceLink } from "../../place/place-link.tsx";
import { useReading } from "../../thread-view/use-reading.ts";
import { useShownVersion, useThreadView } from "../../thread-view/use-thread.tsx";
import { useKindWord } from "../../timeline/event-kinds.ts";
import { readMachine } from "./last-transition.ts";
import { Statechart } from "./statechart.tsx";
import { takenWays } from "./taken-ways.ts";
import { conditionWord, machineWords, stateWord } from "./words.ts";
import "./machine-tab.css";

/** The lifecycle of the thread: where it is at the shown version, how it came there, where it can go. */
export function MachineTab() {
  const words = useWords(machineWords);
  const chosen = useValue(language);
  const number = useNumber();
  const kindWord = useKindWord();
  const { thread, events, marks } = useThreadView();
  const { version } = useShownVersion();
  const { value, problem, pending } = useReading(
    `${thread}@${version} ${events[0]?.version ?? 0}`,
    (signal) => readMachine(thread, version, { events, marks }, signal),
    { delayMs: 60 },
  );
  const taken = useMemo(
    () =>
      value?.last && value.last.type !== "ThreadRewound"
        ? takenWays(layout.ways, value.last.from, value.current)
        : [],
    [value],
  );
  if (problem) return <Failed problem={problem} />;
  if (!value) return <Loading />;
  const { current, last } = value;
  const word = (name: string) => stateWord(name, chosen);
  const path = last && [last.from, ...(taken.length > 0 ? taken.map(({ to }) => to) : [current])];
  const ways = layout.ways.filter(({ from }) => from === current);
  return (
    <div
      className="tab-body machine-tab"
      data-version={value.version}
      data-state={current}
      aria-busy={pending}
    >
      <div className="tab-heading">
        <h2>{words.title(number(value.version))}</h2>
      </div>
      <dl className="facts machine-facts">
        <dt>{words.now}</dt>
        <dd>
          <strong className="state-word">{word(current)}</strong>
        </dd>
        <dt>{words.last}</dt>
        <dd>
          {last && path ? (
            <>
              <span className="machine-path">{path.map(word).join(" → ")}</span>{" "}
              <span className="quiet">{words.by} </span>
              <PlaceLink to={{ at: String(last.version), tab: "event" }}>
                {kindWord(last.type)} {number(last.version)}
              </PlaceLink>
              {taken.length === 0 && <p className="quiet">{words.turned}</p>}
            </>
          ) : (
            <span className="quiet">{words.none}</span>
          )}
        </dd>
      </dl>
      <figure className="machine-figure">
        <Statechart
          current={current}
          taken={taken}
          label={`${words.chart}: ${words.now} ${word(current)}${path ? `; ${words.last} ${path.map(word).join(" → ")}` : ""}`}
        />
        <figcaption>
          <span className="legend legend-current">{words.lit}</span>
          <span className="legend legend-taken">{words.taken}</span>
        </figcaption>
      </figure>
      <h3>{words.ways}</h3>
      {ways.length === 0 ? (
        <p className="quiet">{words.noWays}</p>
      ) : (
        <dl className="machine-ways">
          {ways.map(({ to, when }) => (
            <div key={to}>
              <dt>→ {word(to)}</dt>
              <dd>{when.map((one) => conditionWord(one, chosen)).join(chosen === "zh" ? "；" : "; ")}</dd>
            </div>
          ))}
        </dl>
      )}
    </div>
  );
}

import { useEffect, useRef, useState } from "react";
import { auditApi, type ReadModel, type RebuildProgress } from "../api/audit-api.ts";
import { RequestProblem } from "../api/request.ts";
import { useWords } from "../i18n/language.ts";
import { useDuration, useNumber } from "../i18n/shown-time.ts";
import { Icon, type IconName } from "../parts/icon.tsx";
import { Failed, Loading } from "../parts/notices.tsx";
import { useAccess, useMayChange } from "../shell/access.ts";
import { InertText } from "../text/inert-text.tsx";
import { visibleText } from "../text/visible-text.ts";
import { useReading } from "../thread-view/use-reading.ts";
import { modelWords } from "./words.ts";
import "./read-models.css";

const icons: Readonly<Record<string, IconName>> = {
  live: "check",
  "catching-up": "run",
  waiting: "pause",
  rebuilding: "again",
  retrying: "again",
  superseded: "archive",
  failed: "cross",
  stopped: "stop",
};

function ModelState({ model }: { readonly model: ReadModel }) {
  const words = useWords(modelWords);
  const names: Readonly<Record<string, string>> = {
    live: words.live,
    "catching-up": words.catchingUp,
    waiting: words.waiting,
    rebuilding: words.rebuilding,
    retrying: words.retrying,
    superseded: words.superseded,
    failed: words.failed,
    stopped: words.stopped,
  };
  return (
    <span className={`model-state model-${model.state}`}>
      <Icon name={icons[model.state] ?? "gap"} size={14} />
      {names[model.state] ?? model.state}
    </span>
  );
}

type Work =
  | { readonly kind: "rebuilding"; readonly progress: RebuildProgress | undefined }
  | { readonly kind: "comparing" }
  | { readonly kind: "said"; readonly text: string; readonly bad: boolean };

function Progress({
  progress,
  name,
}: {
  readonly progress: RebuildProgress | undefined;
  readonly name: string;
}) {
  const words = useWords(modelWords);
  const number = useNumber();
  const duration = useDuration();
  if (!progress) return <progress className="model-progress" aria-label={words.rebuildOf(name)} />;
  const { events, total, rate, secondsLeft } = progress;
  const done =
    total === null ? words.progressOf(number(events)) : words.progress(number(events), number(total));
  return (
    <>
      <progress
        className="model-progress"
        aria-label={words.rebuildOf(name)}
        {...(total !== null && total > 0 && { max: total, value: Math.min(events, total) })}
      />
      <span className="quiet">
        {[
          done,
          words.rate(number(Math.round(rate))),
          ...(secondsLeft === null ? [] : [words.left(duration(secondsLeft * 1_000))]),
        ].join(" · ")}
      </span>
    </>
  );
}

/** A read model, and what is being done with it. */
function ModelRow({ model, onDone }: { readonly model: ReadModel; readonly onDone: () => void }) {
  const words = useWords(modelWords);
  const number = useNumber();
  const duration = useDuration();
  const access = useAccess();
  const mayChange = useMayChange() && access?.scope === "admin";
  const [work, setWork] = useState<Work>();
  const stopping = useRef<AbortController>(undefined);
  useEffect(() => () => stopping.current?.abort(), []);
  const name = visibleText(model.name);
  const { lag } = model;

  const attempt = async (run: () => Promise<Work>) => {
    try {
      setWork(await run());
    } catch (error) {
      const text = error instanceof RequestProblem ? error.message : String(error);
      setWork({ kind: "said", text, bad: true });
    }
    onDone();
  };
  const rebuild = () => {
    const stop = new AbortController();
    stopping.current = stop;
    setWork({ kind: "rebuilding", progress: undefined });
    return attempt(async () => {
      const end = await auditApi.rebuild(
        model.name,
        (progress) => setWork({ kind: "rebuilding", progress }),
        stop.signal,
      );
      if (!end) return { kind: "said", text: words.halted, bad: false };
      if (end.kind === "error") return { kind: "said", text: end.detail, bad: true };
      return { kind: "said", text: words.done(number(end.rows), number(end.events)), bad: false };
    });
  };
  const compare = () => {
    setWork({ kind: "comparing" });
    return attempt(async () => {
      const { differing } = await auditApi.compare(model.name);
      const text = differing === 0 ? words.same : words.differ(number(differing));
      return { kind: "said", text, bad: differing > 0 };
    });
  };
  const isBusy = work?.kind === "rebuilding" || work?.kind === "comparing";
  return (
    <tr>
      <th scope="row">
        <InertText text={model.name} /> <span className="quiet">v{model.version}</span>
        {model.error && (
          <p className="model-problem">
            <InertText text={model.error.message} />
          </p>
        )}
        <p className="model-work" role="status">
          {work?.kind === "rebuilding" && <Progress progress={work.progress} name={name} />}
          {work?.kind === "comparing" && words.comparing}
          {work?.kind === "said" && (
            <span className={work.bad ? "model-problem" : "model-good"}>
              <Icon name={work.bad ? "warn" : "check"} size={13} /> <InertText text={work.text} />
            </span>
          )}
        </p>
      </th>
      <td>
        <ModelState model={model} />
      </td>
      <td className="model-lag">
        {lag.events === 0
          ? words.none
          : words.behind(`${number(lag.events)}${lag.more ? "+" : ""}`, duration(lag.seconds * 1_000))}
      </td>
      <td className="model-number">{number(model.events)}</td>
      <td>
        <div className="model-actions">
          {work?.kind === "rebuilding" ? (
            <button type="button" className="button small" onClick={() => stopping.current?.abort()}>
              <Icon name="stop" size={13} />
              {words.stop}
            </button>
          ) : (
            <>
              <button
                type="button"
                className="button small"
                aria-label={words.compareOf(name)}
                disabled={isBusy || access?.scope !== "admin"}
                onClick={() => void compare()}
              >
                {words.compare}
              </button>
              <button
                type="button"
                className="button small"
                aria-label={words.rebuildOf(name)}
                disabled={isBusy || !mayChange}
                onClick={() => void rebuild()}
              >
                <Icon name="again" size={13} />
                {words.rebuild}
              </button>
            </>
          )}
        </div>
      </td>
    </tr>
  );
}

/** Milliseconds between two looks at how far the read models are. */
const lookMs = 3_000;

/** All read models with their lag, each to be compared with a rebuild, or rebuilt. */
export function ReadModels() {
  const words = useWords(modelWords);
  const access = useAccess();
  const [round, setRound] = useState(0);
  const { value, problem } = useReading(`${round}`, (signal) => auditApi.readModels({ signal }));
  useEffect(() => {
    const timer = window.setInterval(() => {
      if (document.visibilityState === "visible") setRound((before) => before + 1);
    }, lookMs);
    return () => window.clearInterval(timer);
  }, []);
  return (
    <div className="read-models">
      <h1>{words.title}</h1>
      <p className="quiet">{words.text}</p>
      {access && access.scope !== "admin" && <p className="quiet">{words.adminOnly}</p>}
      {problem && !value && <Failed problem={problem} />}
      {!value && !problem && <Loading />}
      {value && (
        <div className="model-table">
          <table>
            <thead>
              <tr>
                <th scope="col">{words.name}</th>
                <th scope="col">{words.state}</th>
                <th scope="col">{words.lag}</th>
                <th scope="col" className="model-number">
                  {words.events}
                </th>
                <td />
              </tr>
            </thead>
            <tbody>
              {value.projections.map((model) => (
                <ModelRow key={model.name} model={model} onDone={() => setRound((before) => before + 1)} />
              ))}
            </tbody>
          </table>
        </div>
      )}
    </div>
  );
}

import { useState } from "react";
import type { Problem, VerifiedThread, VerifyCheck } from "../../../../projections/verify.ts";
import { auditApi } from "../api/audit-api.ts";
import { useWords } from "../i18n/language.ts";
import { useNumber } from "../i18n/shown-time.ts";
import { Icon } from "../parts/icon.tsx";
import { Failed } from "../parts/notices.tsx";
import { PlaceLink } from "../place/place-link.tsx";
import { InertText } from "../text/inert-text.tsx";
import { visibleText } from "../text/visible-text.ts";
import { useReading } from "../thread-view/use-reading.ts";
import { useThreadView } from "../thread-view/use-thread.tsx";
import { auditWords } from "./words.ts";

const checks: readonly VerifyCheck[] = ["chain", "fold", "blobs", "snapshots"];

function Facts({ check, verified }: { readonly check: VerifyCheck; readonly verified: VerifiedThread }) {
  const words = useWords(auditWords);
  const number = useNumber();
  const { events, stateHashes, uncheckedStates, erasedStates, blobs, erasedBlobs } = verified;
  const facts = {
    chain: [words.chainFact(number(events))],
    fold: [
      words.foldFact(number(stateHashes)),
      ...(uncheckedStates > 0 ? [words.unchecked(number(uncheckedStates))] : []),
      ...(erasedStates > 0 ? [words.erased(number(erasedStates))] : []),
    ],
    blobs: [words.blobsFact(number(blobs)), ...(erasedBlobs > 0 ? [words.erased(number(erasedBlobs))] : [])],
    snapshots: [words.snapshotsFact],
  }[check];
  return <span className="quiet">{facts.join(" · ")}</span>;
}

/** A record that does not hold, with the way to it. */
function BrokenRecord({ problem, thread }: { readonly problem: Problem; readonly thread: string }) {
  const words = useWords(auditWords);
  const number = useNumber();
  const owner = problem.stream.replace(/^thread-/, "");
  return (
    <div className="audit-problem">
      <p>
        <InertText text={problem.message} />
        {owner !== thread && <span className="quiet"> {words.inThread(visibleText(owner))}</span>}
      </p>
      <PlaceLink
        className="button small"
        to={{ thread: owner, at: String(problem.version), tab: "event", pane: "audit" }}
      >
        {words.atVersion(number(problem.version))}
      </PlaceLink>
    </div>
  );
}

function Badge({ verified }: { readonly verified: VerifiedThread }) {
  const words = useWords(auditWords);
  const number = useNumber();
  const [first] = verified.problems;
  return (
    <p className={`verify-badge ${first ? "is-broken" : "is-intact"}`} role="status">
      <Icon name={first ? "warn" : "shield"} size={22} />
      <span>
        <strong>{first ? words.broken : words.intact}</strong>
        <span>
          {first
            ? words.brokenText(number(first.version))
            : words.intactText(number(verified.events), number(verified.version))}
        </span>
      </span>
    </p>
  );
}

/** Whether the thread is what was recorded: checked as the pane is opened, and again when asked for. */
export function Integrity() {
  const words = useWords(auditWords);
  const number = useNumber();
  const { thread, head } = useThreadView();
  const [round, setRound] = useState(0);
  const reading = useReading(head === 0 ? undefined : `${thread}/${round}`, (signal) =>
    auditApi.verify(thread, { signal }),
  );
  const { value, problem, pending } = reading;
  const verified = value?.threadId === thread ? value : undefined;
  const isChainBroken = verified?.problems.some(({ check }) => check === "chain") === true;
  return (
    <section className="audit-card" aria-labelledby="audit-integrity" aria-busy={pending}>
      <h2 id="audit-integrity">{words.integrity}</h2>
      {problem && <Failed problem={problem} />}
      {!problem && !verified && (
        <p className="audit-checking" role="status">
          <span className="spinner" aria-hidden="true" />
          {words.checking}
        </p>
      )}
      {verified && (
        <>
          <Badge verified={verified} />
          <ul className="audit-checks">
            {checks.map((check) => {
              const found = verified.problems.find((one) => one.check === check);
              const isSkipped = isChainBroken && check !== "chain";
              return (
                <li key={check} className={found ? "is-broken" : isSkipped ? "is-skipped" : "is-intact"}>
                  <Icon name={found ? "cross" : isSkipped ? "gap" : "check"} size={14} />
                  <span className="audit-check-name">{words[check]}</span>
                  {isSkipped ? (
                    <span className="quiet">{words.notLooked}</span>
                  ) : (
                    <>
                      <span className="visually-hidden">{found ? words.fails : words.holds}</span>
                      {!found && <Facts check={check} verified={verified} />}
                    </>
                  )}
                  {found && <BrokenRecord problem={found} thread={thread} />}
                </li>
              );
            })}
          </ul>
        </>
      )}
      <div className="audit-actions">
        <button type="button" className="button" disabled={pending} onClick={() => setRound(round + 1)}>
          <Icon name="again" size={14} />
          {words.again}
        </button>
        {verified && head > verified.version && (
          <span className="quiet">{words.newer(number(head - verified.version))}</span>
        )}
      </div>
    </section>
  );
}

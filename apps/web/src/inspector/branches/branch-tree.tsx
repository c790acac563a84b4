import type { Branch, BranchTree as Tree } from "../../../../../projections/branches.ts";
import { useWords } from "../../i18n/language.ts";
import { useNumber } from "../../i18n/shown-time.ts";
import { Icon } from "../../parts/icon.tsx";
import { go, usePlace } from "../../place/place.ts";
import { PlaceLink } from "../../place/place-link.tsx";
import { InertText } from "../../text/inert-text.tsx";
import { visibleText } from "../../text/visible-text.ts";
import { branchesWords } from "./words.ts";

interface Shown {
  readonly thread: string;
  readonly version: number;
}

/** Last version of a branch that the thread's state builds on: a later one may have gone back into it. */
function currentEnd({ from, to }: Branch, { threadId, branches }: Tree): number {
  const left = branches.flatMap(({ leaves, current }) =>
    current && leaves?.threadId === threadId && from <= leaves.version && leaves.version < to
      ? [leaves.version]
      : [],
  );
  return Math.min(to, ...left);
}

function BranchRow({
  branch,
  tree,
  shown,
}: {
  readonly branch: Branch;
  readonly tree: Tree;
  readonly shown: Shown;
}) {
  const words = useWords(branchesWords);
  const number = useNumber();
  const { with: compared } = usePlace();
  const { from, to, current, reason, heads, forks } = branch;
  const isOwn = tree.threadId === shown.thread;
  const isHere = isOwn && from <= shown.version && shown.version <= to;
  const isShown = isOwn && to === shown.version;
  const last = currentEnd(branch, tree);
  const end = `${tree.threadId}@${to}`;
  const isBack = branch.leaves !== undefined && branch.leaves.threadId === tree.threadId;
  return (
    <li className="branch" data-branch={`${tree.threadId}:${from}`}>
      <div className="branch-row" data-here={isHere || undefined} data-abandoned={!current || undefined}>
        <Icon name={isBack ? "rewind" : "thread"} size={14} />
        <PlaceLink
          className="branch-link"
          to={{ ...(!isOwn && { thread: tree.threadId }), at: String(to) }}
          {...(isHere && { current: "true" })}
        >
          {words.versions(number(from), number(to))}
        </PlaceLink>
        <span className={current ? "branch-state current" : "branch-state"}>
          {!current ? words.abandoned : last === to ? words.current : words.currentTo(number(last))}
        </span>
        {isBack && branch.leaves && (
          <span className="quiet">
            {words.backTo(number(branch.leaves.version))}
            {reason !== undefined && (
              <>
                : <InertText text={reason} />
              </>
            )}
          </span>
        )}
        {heads.map(({ name, version }) => (
          <PlaceLink
            key={name}
            className="branch-head"
            to={{ ...(!isOwn && { thread: tree.threadId }), at: String(version) }}
          >
            <Icon name="flag" size={12} />
            <InertText text={name} /> {number(version)}
          </PlaceLink>
        ))}
        {!isShown && (
          <button
            type="button"
            className="button small branch-compare"
            aria-pressed={compared === end}
            aria-label={words.compareWith(visibleText(end))}
            onClick={() => go({ with: compared === end ? undefined : end })}
          >
            {words.compare}
          </button>
        )}
      </div>
      {forks.length > 0 && (
        <ul className="branch-forks">
          {forks.map((fork) => (
            <ThreadBranches key={fork.threadId} tree={fork} shown={shown} />
          ))}
        </ul>
      )}
    </li>
  );
}

/** A thread with its branches; the forks of each below it. */
function ThreadBranches({ tree, shown }: { readonly tree: Tree; readonly shown: Shown }) {
  const words = useWords(branchesWords);
  const isOwn = tree.threadId === shown.thread;
  return (
    <li className="branch-thread" data-thread={tree.threadId}>
      <div className="branch-thread-name">
        <Icon name={tree.parent ? "branch" : "thread"} size={14} />
        {isOwn ? (
          <strong>{words.thisThread}</strong>
        ) : (
          <PlaceLink className="mono" to={{ thread: tree.threadId, tab: "branches" }}>
            <InertText text={tree.threadId} />
          </PlaceLink>
        )}
        {tree.parent && (
          <span className="quiet branch-parent">
            {words.forkedFrom(visibleText(`${tree.parent.threadId}@${tree.parent.version}`))}
          </span>
        )}
      </div>
      <ul className="branch-list">
        {tree.branches.map((branch) => (
          <BranchRow key={branch.from} branch={branch} tree={tree} shown={shown} />
        ))}
      </ul>
    </li>
  );
}

/** Threads, their branches and the forks of these, as one tree. */
export function BranchTree({ tree, shown }: { readonly tree: Tree; readonly shown: Shown }) {
  const words = useWords(branchesWords);
  return (
    <ul className="branch-tree" aria-label={words.title}>
      <ThreadBranches tree={tree} shown={shown} />
    </ul>
  );
}

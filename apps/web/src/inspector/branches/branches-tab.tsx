import type { BranchTree as Tree } from "../../../../../projections/branches.ts";
import { logApi } from "../../api/log-api.ts";
import { RequestProblem } from "../../api/request.ts";
import { useValue } from "../../api/value-store.ts";
import { useWords } from "../../i18n/language.ts";
import { useNumber } from "../../i18n/shown-time.ts";
import { Icon } from "../../parts/icon.tsx";
import { Failed, Loading } from "../../parts/notices.tsx";
import { usePlace } from "../../place/place.ts";
import { useMayChange } from "../../shell/access.ts";
import { InertText } from "../../text/inert-text.tsx";
import { useReading } from "../../thread-view/use-reading.ts";
import { useShownVersion, useThreadView } from "../../thread-view/use-thread.tsx";
import { BranchTree } from "./branch-tree.tsx";
import { ForkDialog } from "./fork-dialog.tsx";
import { forkRequested } from "./fork-request.ts";
import { SideBySide } from "./side-by-side.tsx";
import { branchesWords } from "./words.ts";
import "./branches-tab.css";

/** Forks of forks that are followed to where they come from. */
const maxParents = 50;

/** The tree that a thread belongs to, from the oldest thread that may be read. */
async function wholeTree(
  thread: string,
  signal: AbortSignal,
): Promise<{ readonly tree: Tree; readonly hidden: string | undefined }> {
  let tree = await logApi.branches(thread, { signal });
  for (let depth = 0; tree.parent && depth < maxParents; depth++) {
    const { threadId } = tree.parent;
    try {
      tree = await logApi.branches(threadId, { signal });
    } catch (error) {
      if (!(error instanceof RequestProblem)) throw error;
      return { tree, hidden: threadId };
    }
  }
  return { tree, hidden: undefined };
}

/** Forks and rewinds of the thread, two of them side by side, and the way to fork again. */
export function BranchesTab() {
  const words = useWords(branchesWords);
  const number = useNumber();
  const { thread, head } = useThreadView();
  const { version } = useShownVersion();
  const { with: other } = usePlace();
  const mayChange = useMayChange();
  const asked = useValue(forkRequested);
  const { value, problem, pending } = useReading(`${thread}@${head}`, (signal) => wholeTree(thread, signal), {
    delayMs: 60,
  });
  if (problem) return <Failed problem={problem} />;
  if (!value) return <Loading />;
  return (
    <div className="tab-body branches-tab" data-head={head} aria-busy={pending}>
      <div className="tab-heading">
        <h2>{words.title}</h2>
        <button
          type="button"
          className="button"
          disabled={!mayChange}
          title={mayChange ? undefined : words.mayNot}
          onClick={() => forkRequested.set(true)}
        >
          <Icon name="branch" size={14} />
          {words.forkFrom(number(version))}
        </button>
      </div>
      {value.hidden !== undefined && (
        <p className="quiet">
          {words.noParent} <InertText text={value.hidden} />
        </p>
      )}
      <BranchTree tree={value.tree} shown={{ thread, version }} />
      {other !== undefined && <SideBySide thread={thread} version={version} other={other} />}
      {asked && mayChange && (
        <ForkDialog thread={thread} version={version} onClose={() => forkRequested.set(false)} />
      )}
    </div>
  );
}

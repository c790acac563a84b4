import { type ReactNode, useEffect } from "react";
import { logApi } from "../api/log-api.ts";
import { useWords } from "../i18n/language.ts";
import { useKeys } from "../keys/keys.ts";
import { Icon } from "../parts/icon.tsx";
import { go } from "../place/place.ts";
import { InertText } from "../text/inert-text.tsx";
import { visibleText } from "../text/visible-text.ts";
import { useReading } from "../thread-view/use-reading.ts";
import { useThreadView } from "../thread-view/use-thread.tsx";
import { ThreadStatus } from "../threads/thread-status.tsx";
import { type Pane, panes } from "./panes.ts";
import { shellWords } from "./words.ts";

function PaneButton({ pane, chosen }: { readonly pane: Pane; readonly chosen: boolean }) {
  const { title } = useWords(pane.title);
  const words = useWords(shellWords);
  const show = () => go({ pane: pane === panes[0] ? undefined : pane.name });
  useKeys([{ keys: [pane.shortcut], does: words.keyPane(title), group: words.views, run: show }]);
  return (
    <button type="button" className="pane-button" aria-pressed={chosen} onClick={show}>
      <Icon name={pane.icon} size={14} />
      {title}
    </button>
  );
}

/** Title and status of the open thread, and what can stand below. */
export function PaneBar({ shown, children }: { readonly shown: Pane; readonly children?: ReactNode }) {
  const { thread, head } = useThreadView();
  const words = useWords(shellWords);
  const { value: row } = useReading(`${thread}@${head}`, (signal) => logApi.thread(thread, { signal }), {
    delayMs: 60,
  });
  const own = row?.threadId === thread ? row : undefined;
  const title = own?.title ?? thread;
  useEffect(() => {
    document.title = `${visibleText(title)} · Threadfold`;
    return () => {
      document.title = "Threadfold";
    };
  }, [title]);
  return (
    <div className="pane-bar">
      <div className="pane-title">
        <h2 title={visibleText(title)}>
          <InertText text={title} />
        </h2>
        {own && <ThreadStatus status={own.status} />}
      </div>
      {children}
      {panes.length > 1 && (
        <nav className="pane-buttons" aria-label={words.views}>
          {panes.map((pane) => (
            <PaneButton key={pane.name} pane={pane} chosen={pane === shown} />
          ))}
        </nav>
      )}
    </div>
  );
}

import { useEffect, useState } from "react";
import { connection } from "../api/connection.ts";
import { useValue } from "../api/value-store.ts";
import { useWords } from "../i18n/language.ts";
import { Inspector } from "../inspector/inspector.tsx";
import { HelpSheet } from "../keys/help-sheet.tsx";
import { useKeys } from "../keys/keys.ts";
import { FileDrop } from "../opened/file-drop.tsx";
import { Icon } from "../parts/icon.tsx";
import { loadPartsLater, PartFrame } from "../parts/lazy-part.tsx";
import { Empty, Failed, Loading } from "../parts/notices.tsx";
import { usePlace } from "../place/place.ts";
import { TimeSlider } from "../slider/time-slider.tsx";
import { InertText } from "../text/inert-text.tsx";
import { OpenThreadProvider, useThreadView } from "../thread-view/use-thread.tsx";
import { ThreadsList } from "../threads/threads-list.tsx";
import { readAccess } from "./access.ts";
import { PaneBar } from "./pane-bar.tsx";
import { panes } from "./panes.ts";
import { screens } from "./screens.ts";
import { TokenDialog } from "./token-dialog.tsx";
import { TopBar } from "./top-bar.tsx";
import { shellWords } from "./words.ts";
import "./shell.css";

/** Parts of the page, of which narrow windows show one at a time. */
const columns = ["threads", "centre", "inspector"] as const;
type Column = (typeof columns)[number];

function OfflineBanner() {
  const words = useWords(shellWords);
  if (useValue(connection).state === "online") return null;
  return (
    <div className="offline-banner" role="alert">
      <Icon name="warn" />
      {words.offline}
    </div>
  );
}

function ThreadColumns() {
  const words = useWords(shellWords);
  const place = usePlace();
  const { status, problem } = useThreadView();
  const pane = panes.find(({ name }) => name === place.pane) ?? panes[0];
  if (problem) {
    return (
      <section className="centre nothing-open" id="centre" aria-label={words.showCentre}>
        {problem.status === 404 ? (
          <div role="alert">
            <Empty icon="thread" title={words.noThreadTitle}>
              <p>
                <InertText text={words.noThreadText(place.thread ?? "")} />
              </p>
            </Empty>
          </div>
        ) : (
          <Failed problem={problem} />
        )}
      </section>
    );
  }
  return (
    <>
      <section className="centre" id="centre" aria-label={words.showCentre}>
        <PaneBar shown={pane} />
        {status === "loading" ? (
          <Loading />
        ) : (
          <PartFrame name={pane.name}>
            <pane.component />
          </PartFrame>
        )}
      </section>
      <section className="inspector-column" aria-label={words.inspector}>
        {status === "ready" && <Inspector />}
      </section>
      <div className="slider-bar">{status === "ready" && <TimeSlider />}</div>
    </>
  );
}

function Body() {
  const words = useWords(shellWords);
  const { screen: screenName, thread } = usePlace();
  const screen = screens.find(({ name }) => name === screenName);
  if (screen) {
    return (
      <section className="screen" id="centre" aria-label={words.showCentre}>
        <PartFrame name={screen.name}>
          <screen.component />
        </PartFrame>
      </section>
    );
  }
  if (thread === undefined) {
    return (
      <section className="centre nothing-open" id="centre" aria-label={words.showCentre}>
        <Empty icon="thread" title={words.nothingOpenTitle}>
          <p>{words.nothingOpenText}</p>
        </Empty>
      </section>
    );
  }
  return (
    <OpenThreadProvider thread={thread}>
      <ThreadColumns />
    </OpenThreadProvider>
  );
}

/** The whole page. */
export function App() {
  const words = useWords(shellWords);
  const place = usePlace();
  const [help, setHelp] = useState(false);
  const [column, setColumn] = useState<Column>(place.thread === undefined ? "threads" : "centre");
  useEffect(() => {
    readAccess().catch(() => undefined);
    loadPartsLater();
  }, []);
  useEffect(() => {
    if (place.thread !== undefined || place.screen !== undefined) setColumn("centre");
  }, [place.thread, place.screen]);
  useKeys([{ keys: ["?"], does: words.keyHelp, group: words.general, run: () => setHelp(true) }]);
  const names = { threads: words.showThreads, centre: words.showCentre, inspector: words.showInspector };
  return (
    <div className="page" data-column={column}>
      <a className="skip-link" href="#centre">
        {words.skip}
      </a>
      <TopBar onHelp={() => setHelp(true)} />
      <OfflineBanner />
      <div className="column-switch">
        {columns.map((one) => (
          <button
            key={one}
            type="button"
            className="button"
            aria-pressed={column === one}
            onClick={() => setColumn(one)}
          >
            {names[one]}
          </button>
        ))}
      </div>
      <main className="columns">
        <nav className="threads-column" aria-label={words.threads}>
          <ThreadsList />
        </nav>
        <Body />
      </main>
      {help && <HelpSheet onClose={() => setHelp(false)} />}
      <FileDrop />
      <TokenDialog />
    </div>
  );
}

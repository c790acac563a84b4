import { Component, type ComponentType, lazy, type ReactNode, Suspense } from "react";
import { lost } from "../api/connection.ts";
import { useWords } from "../i18n/language.ts";
import { shellWords } from "../shell/words.ts";
import { Icon } from "./icon.tsx";
import { Loading } from "./notices.tsx";

const parts: (() => Promise<unknown>)[] = [];

const reloadKey = "threadfold.reloaded";
/** Milliseconds within which a second reload would not help either. */
const reloadedLately = 15_000;

/**
 * Browsers remember that a script could not be loaded, so the page itself is loaded again: its address brings back what
 * was shown. Also right when the server was replaced by one with other scripts.
 */
function reload(): Promise<never> {
  window.sessionStorage.setItem(reloadKey, String(Date.now()));
  window.location.reload();
  return new Promise(() => undefined);
}

/** A part of the page that is loaded when it is first shown. While the server is away it waits. */
export function lazyPart(load: () => Promise<ComponentType>): ComponentType {
  const again = async () => {
    try {
      return await load();
    } catch (error) {
      await lost();
      const last = Number(window.sessionStorage.getItem(reloadKey) ?? 0);
      if (Date.now() - last < reloadedLately) throw error;
      return reload();
    }
  };
  parts.push(load);
  return lazy(async () => ({ default: await again() }));
}

/** Milliseconds after the start at which parts are loaded that nobody has asked for yet. */
const quietMs = 2_000;

/** Loads all parts when the page has become quiet, so that they are there when the server is not. */
export function loadPartsLater(): void {
  window.setTimeout(async () => {
    for (const load of parts) await load().catch(() => undefined);
  }, quietMs);
}

function Broken() {
  const words = useWords(shellWords);
  return (
    <div className="notice failed" role="alert">
      <Icon name="warn" size={20} />
      <h2>{words.failedTitle}</h2>
      <p>{words.brokenText}</p>
      <button type="button" className="button" onClick={() => window.location.reload()}>
        {words.reload}
      </button>
    </div>
  );
}

class Boundary extends Component<{ readonly children: ReactNode }, { readonly isBroken: boolean }> {
  override state = { isBroken: false };
  static getDerivedStateFromError() {
    return { isBroken: true };
  }
  override render() {
    return this.state.isBroken ? <Broken /> : this.props.children;
  }
}

/** Keeps what goes wrong in a part of the page from taking the rest with it. `name` of another part begins anew. */
export function PartFrame({ name, children }: { readonly name: string; readonly children: ReactNode }) {
  return (
    <Boundary key={name}>
      <Suspense fallback={<Loading />}>{children}</Suspense>
    </Boundary>
  );
}

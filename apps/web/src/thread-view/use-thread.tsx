import { createContext, type ReactNode, useContext, useEffect, useState } from "react";
import { useValue } from "../api/value-store.ts";
import { usePlace, versionOf } from "../place/place.ts";
import { type OpenThread, openThread, type ThreadView } from "./open-thread.ts";

const Current = createContext<OpenThread | undefined>(undefined);

/** Opens the thread that the address names for everything inside. */
export function OpenThreadProvider({
  thread,
  children,
}: {
  readonly thread: string;
  readonly children: ReactNode;
}) {
  const [opened, setOpened] = useState<OpenThread>();
  useEffect(() => {
    const own = openThread(thread);
    setOpened(own);
    return () => own.close();
  }, [thread]);
  if (opened?.view.get().thread !== thread) return null;
  return <Current value={opened}>{children}</Current>;
}

/** The open thread. @throws {Error} outside of `OpenThreadProvider` */
export function useOpenThread(): OpenThread {
  const opened = useContext(Current);
  if (!opened) throw new Error("No thread is open here.");
  return opened;
}

/** What is known of the open thread, kept up to date. */
export function useThreadView(): ThreadView {
  return useValue(useOpenThread().view);
}

/** The version that everything shows, and whether that is the head and follows it. */
export function useShownVersion(): { readonly version: number; readonly followsHead: boolean } {
  const { head } = useThreadView();
  const at = versionOf(usePlace());
  if (at === undefined) return { version: head, followsHead: true };
  return { version: head === 0 ? at : Math.min(at, head), followsHead: false };
}

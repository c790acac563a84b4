import { createValueStore } from "./value-store.ts";

/** Whether the server answers. `since`: milliseconds since 1970. */
export type Connection = { readonly state: "online" } | { readonly state: "offline"; readonly since: number };

/** What is known of the server. The page shows a banner while it is offline. */
export const connection = createValueStore<Connection>({ state: "online" });

/** Where the API is: beside the page, also when it is served below a path. */
export function apiUrl(path: string): string {
  return new URL(path.replace(/^\//, ""), new URL(".", window.location.href)).href;
}

/** Milliseconds between two looks at whether the server is back. */
const probeMs = 700;
let waiting: Promise<void> | undefined;

async function waitUntilBack(): Promise<void> {
  for (;;) {
    await new Promise((resolve) => setTimeout(resolve, probeMs));
    const answer = await fetch(apiUrl("ok"), { cache: "no-store" }).catch(() => undefined);
    if (answer?.ok) break;
  }
  waiting = undefined;
  connection.set({ state: "online" });
}

/** The server did not answer. Resolves when it does again. */
export function lost(): Promise<void> {
  if (!waiting) {
    connection.set({ state: "offline", since: Date.now() });
    waiting = waitUntilBack();
  }
  return waiting;
}

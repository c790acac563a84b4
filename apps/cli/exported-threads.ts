import type { Store } from "../../events/store.ts";
import { readInput } from "./read-input.ts";

/**
 * Opens an exported file (or a LangGraph thread) as a store of its own for the time of `work`.
 *
 * @throws {FileNotFoundError} and what `importText` throws
 */
export async function withThreadsOf(
  file: string,
  work: (store: Store, threadIds: readonly string[]) => Promise<void>,
): Promise<void> {
  const { openStore } = await import("../../events/open-store.ts");
  const { importText } = await import("../../projections/thread-import.ts");
  const store = await openStore("memory:");
  try {
    const { threads } = await importText(store, await readInput(file));
    await work(
      store,
      threads.map(({ threadId }) => threadId),
    );
  } finally {
    await store.close();
  }
}

import type { Store } from "../../events/store.ts";
import { readInput } from "./read-input.ts";

/** An exported file that is checked does not hold what it should: it is malformed, or was cut short. */
class DamagedExportError extends Error {
  override readonly name = "DamagedExportError";
}

/** Throws what reading an export threw: as a check that failed when the file is damaged. */
export function refuseDamaged(cause: Error): never {
  throw cause.name === "ExportFormatError" ? new DamagedExportError(cause.message, { cause }) : cause;
}

/**
 * Opens an exported file (or a LangGraph thread) as a store of its own for the time of `work`.
 *
 * @throws {FileNotFoundError} @throws {DamagedExportError} and what `importText` throws
 */
export async function withThreadsOf(
  file: string,
  work: (
    store: Store,
    threadIds: readonly string[],
    found: { readonly withoutBlobs: boolean },
  ) => Promise<void>,
): Promise<void> {
  const { openStore } = await import("../../events/open-store.ts");
  const { importText } = await import("../../projections/thread-import.ts");
  const store = await openStore("memory:");
  try {
    const { threads } = await importText(store, await readInput(file)).catch(refuseDamaged);
    await work(
      store,
      threads.map(({ threadId }) => threadId),
      { withoutBlobs: await isEmpty(store) },
    );
  } finally {
    await store.close();
  }
}

async function isEmpty({ blobs }: Store): Promise<boolean> {
  for await (const _blob of blobs.list()) return false;
  return true;
}

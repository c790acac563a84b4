import { existsSync } from "node:fs";
import { resolve } from "node:path";
import { createFileKeyStore } from "./files.ts";
import type { KeyStore } from "./key-store.ts";

/** Keys that a URL names. */
export interface OpenedKeys {
  readonly keys: KeyStore;
  /** Whether a log was encrypted with them: it is never gone on with in plain text by accident. */
  isUsed(): Promise<boolean>;
  close(): Promise<void>;
}

/**
 * Opens keys apart from a log: the table of a `postgres://` store, or a folder.
 *
 * @throws {MissingDriverError} @throws {LogUnavailableError}
 */
export async function openKeys(place: string): Promise<OpenedKeys> {
  if (/^postgres(ql)?:/i.test(place)) {
    const { openPostgres } = await import("../log/postgres.ts");
    const { log, keys } = await openPostgres(place);
    return { keys, isUsed: () => keys.isUsed(), close: () => log.close() };
  }
  const folder = resolve(place);
  return { keys: createFileKeyStore(folder), isUsed: async () => existsSync(folder), async close() {} };
}

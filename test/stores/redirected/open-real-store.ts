import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll } from "vitest";
import type { EventLog } from "../../../events/log/event-log.ts";
import { type OpenStoreOptions, openStore as open } from "../../../events/open-store.ts";
import type { Store } from "../../../events/store.ts";
import { lazyLog } from "./lazy-log.ts";

export * from "../../../events/open-store.ts";

const { STORE_UNDER_TEST: kind = "sqlite", STORE_UNDER_TEST_URL: server = "" } = process.env;

let folder: string | undefined;
let stores = 0;
const opened = new Set<Store>();

afterAll(async () => {
  for (const store of opened) await store.close().catch(() => undefined);
  opened.clear();
  if (folder !== undefined) rmSync(folder, { recursive: true, force: true });
  folder = undefined;
});

/** A store that nobody has used. */
function newUrl(): string {
  stores += 1;
  if (kind === "postgres") return `${server}?schema=suite_${process.pid}_${stores}_${Date.now() % 1e6}`;
  folder ??= mkdtempSync(join(tmpdir(), "threadfold-suite-"));
  return `sqlite:${join(folder, `${stores}`, "threads.db")}`;
}

async function openNew(options: OpenStoreOptions = {}): Promise<Store> {
  const store = await open(newUrl(), { encrypt: false, ...options });
  opened.add(store);
  return store;
}

/** `memory:` is a store of the kind under test; all other URLs are what they say. */
export const openStore = async (url?: string, options?: OpenStoreOptions): Promise<Store> =>
  url?.startsWith("memory:") ? openNew(options) : open(url, options);

/** In place of the log in memory. */
export const createMemoryLog = (): EventLog =>
  lazyLog(kind, async () => {
    const { log } = await openNew();
    return log;
  });

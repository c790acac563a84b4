import { mkdtemp, readFile, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import type { Agent, AgentOptions } from "../../actors/agent-contract.ts";
import { createAgent } from "../../actors/create-agent.ts";
import { type RunningServer, type StartServerOptions, startServer } from "../../apps/server/index.ts";
import { openStore } from "../../events/open-store.ts";
import type { Store } from "../../events/store.ts";
import { importText } from "../../projections/thread-import.ts";
import { afterTest } from "../server/served-agents.ts";
import { builtPage } from "./built-page.ts";

/** A server with the page, on a SQLite file of its own. */
export interface ServedPage {
  readonly url: string;
  readonly store: Store;
  readonly agent: Agent;
  readonly server: RunningServer;
  /** Address of a place of the page. */
  at(place: Readonly<Record<string, string | number>>): string;
  /** The JSON of a path of the API. */
  json<Value>(path: string): Promise<Value>;
}

/** Serves the page with the harness and the built-in planner: rules, real tools. */
export async function servePage(
  options: { readonly agent?: Partial<AgentOptions>; readonly server?: Partial<StartServerOptions> } = {},
): Promise<ServedPage> {
  const folder = await mkdtemp(join(tmpdir(), "threadfold-page-"));
  afterTest(() => rm(folder, { recursive: true, force: true }));
  const store = await openStore(`sqlite:${join(folder, "threads.db")}`);
  afterTest(() => store.close());
  const agent = createAgent({
    model: "builtin:planner",
    store,
    preset: "harness",
    harness: { todos: { maxReminders: 0 } },
    ...options.agent,
  });
  afterTest(() => agent.close());
  const server = await startServer({
    agents: { agent },
    store,
    port: 0,
    graceMs: 0,
    pageFolder: await builtPage(),
    ...options.server,
  });
  afterTest(() => server.stop());
  return {
    url: server.url,
    store,
    agent,
    server,
    at: (place) =>
      `${server.url}/?${new URLSearchParams(Object.entries(place).map(([k, v]) => [k, `${v}`]))}`,
    json: async <Value>(path: string) => (await (await fetch(`${server.url}/${path}`)).json()) as Value,
  };
}

/** A recorded thread of another runtime, in Chinese; gives its id. */
export async function importTeaShop({ store }: Pick<ServedPage, "store">): Promise<string> {
  return importFixture(store, "../fixtures/threads/tea-shop-zh.json");
}

/** A golden log of this one, by name; gives the id of its first thread. */
export async function importHistory({ store }: Pick<ServedPage, "store">, name: string): Promise<string> {
  return importFixture(store, `../histories/0.1.0/${name}.ndjson`);
}

async function importFixture(store: Store, path: string): Promise<string> {
  const text = await readFile(fileURLToPath(new URL(path, import.meta.url)), "utf8");
  const { threads } = await importText(store, text);
  return threads[0]?.threadId ?? "";
}

import type { BlobStore } from "../../events/blobs/blob-store.ts";
import type { KeyStore } from "../../events/keys/key-store.ts";
import { type KurrentModule, openKurrentDb } from "../../events/log/kurrentdb.ts";
import { openPostgres } from "../../events/log/postgres.ts";
import { parsePostgresUrl } from "../../events/log/postgres-driver.ts";
import type { SideStore } from "../../events/log/side-store.ts";
import type { SharedLogUnderTest } from "../events/log/event-log-sharing.contract.ts";
import { renamedLog, storedNames } from "../events/log/renamed-log.ts";
import { shareClient } from "../events/log/shared-client.ts";

/** The server that the contract is run on. */
export interface ContractTarget {
  readonly url: string;
  /** Without credentials. */
  readonly shown: string;
  /** Events of the large test. */
  readonly events: number;
  readonly client: string;
  /** Names of what this run makes begin with it. */
  readonly run: string;
  /** For what a process that opens a whole store keeps beside the log. */
  readonly folder: string;
}

/** The server cannot be used, said in one line. */
export class TargetError extends Error {
  override readonly name = "TargetError";
  constructor(cause: unknown) {
    super(cause instanceof Error ? cause.message : String(cause), { cause });
  }
}

/** A store on the server that is empty as far as one test can see. */
interface TargetStore extends SharedLogUnderTest {
  readonly side: SideStore;
}

/** PostgreSQL keeps more. */
export interface SchemaStore extends TargetStore {
  readonly blobs: BlobStore;
  readonly keys: KeyStore;
}

export const isPostgres = ({ url }: ContractTarget) => /^postgres/i.test(url);
let stores = 0;

/** @throws {TargetError} */
export async function openTarget(target: ContractTarget): Promise<TargetStore> {
  try {
    return isPostgres(target) ? await openSchemaOf(target) : await openStreams(target);
  } catch (error) {
    throw new TargetError(error);
  }
}

const newName = ({ run }: ContractTarget) => `contract_${run}_${process.pid}_${++stores}`;

export async function openSchemaOf(target: ContractTarget): Promise<SchemaStore> {
  const { url: given } = target;
  const schema = newName(target);
  parsePostgresUrl(given);
  const url = new URL(given);
  url.searchParams.set("schema", schema);
  const store = await openPostgres(url.href);
  return {
    ...store,
    url: url.href,
    connect: async () => (await openPostgres(url.href)).log,
    async dispose() {
      await store.log.close();
      await dropSchema(given, schema);
    },
  };
}

async function dropSchema(url: string, schema: string): Promise<void> {
  const { Client } = (await import("pg")).default;
  const client = new Client({ connectionString: url });
  await client.connect();
  await client.query(`DROP SCHEMA IF EXISTS ${schema} CASCADE`);
  await client.end();
}

let shared: ReturnType<typeof shareClient> | undefined;

/** Lets the connection to KurrentDB go that all logs of this process share. */
export async function closeTarget(): Promise<void> {
  await shared?.close();
  shared = undefined;
}

async function openStreams(target: ContractTarget): Promise<TargetStore> {
  const { url, client: name, folder } = target;
  const module: KurrentModule = await import(name);
  shared ??= shareClient(module, url);
  const { client } = shared;
  const { log: whole, side } = await openKurrentDb(url, { client });
  const prefix = `${newName(target).replaceAll("_", "-")}.`;
  let start: string | undefined;
  // What is there already: the log that a test sees begins after it.
  for await (const item of whole.subscribe({ after: "end" })) {
    if (item.kind === "caught-up") start = item.position;
    break;
  }
  const log = renamedLog(whole, prefix, start);
  return {
    log,
    side: prefixedSide(side, prefix),
    url: `${url}${url.includes("?") ? "&" : "?"}side=${encodeURIComponent(folder)}`,
    // A connection of its own.
    connect: async () => renamedLog((await openKurrentDb(url, { client: module })).log, prefix, start),
    async dispose() {
      await whole.close();
      const { log: again } = await openKurrentDb(url, { client });
      for (const stream of storedNames(log)) {
        const { version, deleted } = await again.head(stream);
        if (version > 0 && !deleted) await again.erase(stream);
      }
      await again.close();
    },
  };
}

/** Kinds of records under names that only one test uses. */
function prefixedSide(side: SideStore, prefix: string): SideStore {
  // A name that is refused is refused as it is.
  const named = (kind: string) => (kind.includes("\u0000") ? kind : prefix + kind);
  return {
    get: (kind, key) => side.get(named(kind), key),
    put: (kind, key, value, options) =>
      side.put(named(kind), key, value, options).catch((error: unknown) => {
        throw error instanceof Error && "kind" in error ? Object.assign(error, { kind }) : error;
      }),
    delete: (kind, key) => side.delete(named(kind), key),
    list: (kind, options) => side.list(named(kind), options),
  };
}

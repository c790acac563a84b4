import { StoreUrlError } from "../store-url-error.ts";
import { serverOf, withoutCredentials } from "../without-credentials.ts";
import { checkParameters } from "./kurrentdb-parameters.ts";

/** What the adapter uses of `@kurrent/kurrentdb-client` and of `@eventstore/db-client`: both fit. */
export interface KurrentModule {
  readonly KurrentDBClient?: { connectionString(text: TemplateStringsArray, ...parts: string[]): unknown };
  readonly EventStoreDBClient?: { connectionString(text: TemplateStringsArray, ...parts: string[]): unknown };
}

interface KurrentPosition {
  readonly commit: bigint;
  readonly prepare: bigint;
}

export interface KurrentEventData {
  readonly id: string;
  readonly type: string;
  readonly contentType: "application/json";
  readonly data: unknown;
  readonly metadata: unknown;
}

export interface KurrentRecord {
  readonly streamId: string;
  readonly id: string;
  readonly type: string;
  readonly revision: bigint;
  readonly data: unknown;
  readonly metadata: unknown;
  readonly position?: KurrentPosition;
}

export interface KurrentResolved {
  readonly event?: KurrentRecord;
  readonly commitPosition?: bigint;
}

export interface KurrentFilter {
  readonly filterOn: "streamName" | "eventType";
  readonly regex: string;
  readonly checkpointInterval: number;
}

type KurrentState = bigint | "no_stream" | "any";

export interface KurrentSubscription {
  on(event: "data" | "caughtUp" | "end" | "close", listener: () => void): unknown;
  on(event: "error", listener: (error: unknown) => void): unknown;
  unsubscribe(): Promise<void>;
}

interface ReadWindow {
  readonly direction: "forwards" | "backwards";
  readonly maxCount: number;
}

export interface KurrentClient {
  appendToStream(
    stream: string,
    events: readonly KurrentEventData[],
    // The two clients name the same option differently and ignore the other's name.
    options: { streamState: KurrentState; expectedRevision: KurrentState },
  ): Promise<{ readonly nextExpectedRevision: bigint; readonly position?: KurrentPosition }>;
  readStream(
    stream: string,
    options: ReadWindow & { fromRevision: bigint | "start" | "end" },
  ): AsyncIterable<KurrentResolved>;
  readAll(
    options: ReadWindow & { fromPosition: KurrentPosition | "start" | "end"; filter?: KurrentFilter },
  ): AsyncIterable<KurrentResolved>;
  subscribeToAll(options: { fromPosition: "start" | "end"; filter: KurrentFilter }): KurrentSubscription;
  tombstoneStream(stream: string, options: { expectedRevision: KurrentState }): Promise<unknown>;
  dispose(): Promise<void>;
  /** What the server said of itself; `unknown`: it did not answer the question. */
  readonly capabilities?: Promise<{ readonly serverVersion?: string }>;
}

/** Neither client of the event store is installed. */
export class MissingEventStoreClientError extends Error {
  override readonly name = "MissingEventStoreClientError";
  constructor(cause: unknown) {
    super(
      'This store needs the package "@kurrent/kurrentdb-client", which is not installed. Run: npm install @kurrent/kurrentdb-client',
      { cause },
    );
  }
}

/** @throws {MissingEventStoreClientError} */
export async function loadKurrentModule(): Promise<KurrentModule> {
  try {
    return await import("@kurrent/kurrentdb-client");
  } catch (error) {
    return import("@eventstore/db-client").catch(() => {
      throw new MissingEventStoreClientError(error);
    });
  }
}

/**
 * Makes a client of whichever of the two modules is given.
 *
 * @throws {StoreUrlError} @throws {MissingEventStoreClientError}
 */
export function createKurrentClient(module: KurrentModule, url: string): KurrentClient {
  const scheme = module.KurrentDBClient ? "kurrentdb" : "esdb";
  const Client = module.KurrentDBClient ?? module.EventStoreDBClient;
  if (!Client) throw new MissingEventStoreClientError(undefined);
  checkParameters(module, url);
  const address = url.replace(/^[a-z]+(?=\+discover:|:)/i, scheme);
  try {
    return Client.connectionString`${address}` as KurrentClient;
  } catch (error) {
    // Without a cause: the client's error holds the whole URL.
    throw new StoreUrlError(
      `The URL of ${serverOf(url)} cannot be used: ${reasonOf(error, url)}. Write kurrentdb://user:password@host:2113?tls=true, special characters of the password percent-encoded.`,
    );
  }
}

/** Of a URL that it cannot take apart the client quotes a part, which may be one of the password. */
function reasonOf(error: unknown, url: string): string {
  const message = error instanceof Error ? error.message : "";
  const [, quoted] = /^Unexpected "(.*)" at position/s.exec(message) ?? [];
  const isShown = quoted === undefined ? !message.includes("@") : withoutCredentials(url).includes(quoted);
  return isShown ? message.replace(/\.+$/, "") : "it cannot be taken apart";
}

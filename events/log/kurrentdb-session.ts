import { LogFormatError, LogUnavailableError } from "./event-log.ts";
import type { KurrentClient } from "./kurrentdb-client.ts";

/** The clients' own kinds of errors that say nothing of what became of the call. */
const transient = new Set([
  "unavailable",
  "cancelled",
  "deadline-exceeded",
  "timeout",
  "unknown",
  "not-leader",
]);

/** What the transport says when TLS is the problem: trying again would not help. */
const tlsTrouble = /certificate|self[- ]signed|unknown ?issuer|\bssl\b|\btls\b|wrong version number|EPROTO/i;
const oldestServer = "21.10";

function isOlder(version: string, than: string): boolean {
  const [major = 0, minor = 0] = version.split(".").map(Number);
  const [oldMajor = 0, oldMinor = 0] = than.split(".").map(Number);
  return major < oldMajor || (major === oldMajor && minor < oldMinor);
}

function messageOf(error: unknown): string {
  const message = error instanceof Error ? error.message : String(error);
  return message.replaceAll(/\s+/g, " ").replace(/\.\s*$/, "");
}

/** What the socket said, without what the layers above it put around. */
function innermost(message: string): string {
  const last = /Last error: (?:Error: )?(.*?)\.?(?: Resolution note.*)?$/.exec(message)?.[1] ?? message;
  return /:SSL routines:[^:]*:([^:]+):/.exec(last)?.[1] ?? last;
}

class CallTimeoutError extends Error {
  override readonly name = "CallTimeoutError";
  readonly type = "timeout";
}

/** `wrong-expected-version`, `stream-deleted`, `access-denied` …; both clients use the same words. */
export function errorType(error: unknown): string {
  return error instanceof Error && "type" in error ? String(error.type) : "";
}

export function isTransient(error: unknown): boolean {
  return transient.has(errorType(error));
}

export interface KurrentSession {
  /** One call with our own time-out: some calls of the clients never end by themselves. The client's errors pass. */
  once<Result>(call: (client: KurrentClient) => Promise<Result>): Promise<Result>;
  /** A call that may be repeated, until it succeeds or the server was away for too long. @throws {LogUnavailableError} */
  repeat<Result>(call: (client: KurrentClient) => Promise<Result>): Promise<Result>;
  /** Waits before another attempt; false: there is no time left. */
  backOff(startedAt: number, attempt: number): Promise<boolean>;
  unavailable(cause: unknown): LogUnavailableError;
  client(): KurrentClient;
  close(): Promise<void>;
}

export interface SessionTimes {
  readonly callTimeoutMs: number;
  readonly reconnectMs: number;
}

/** Disposing of a client never ends when the server ended its stream of appends as if all were well. */
const disposeTimeoutMs = 2000;

async function dispose(client: KurrentClient): Promise<void> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<void>((resolve) => {
    timer = setTimeout(resolve, disposeTimeoutMs);
  });
  await Promise.race([client.dispose().catch(() => undefined), late]);
  clearTimeout(timer);
}

/** @param where the address without credentials, for messages */
export function createKurrentSession(
  connect: () => KurrentClient,
  where: string,
  { callTimeoutMs, reconnectMs }: SessionTimes,
): KurrentSession {
  let current = connect();
  const disposals = new Set<Promise<void>>();

  /** Reads of a client whose first read met a dead server never recover, so it is not used again. */
  const replace = (failed: KurrentClient) => {
    if (failed !== current) return;
    current = connect();
    const disposal = dispose(failed);
    disposals.add(disposal);
    void disposal.then(() => disposals.delete(disposal));
  };

  let isKnown = false;
  /** Why no connection could be made; reads of the newer client do not say it. */
  let trouble: string | undefined;
  /** Older servers lack what the clients and this adapter rely on, and fail in ways that say nothing. */
  const checkVersion = async (client: KurrentClient): Promise<void> => {
    let version: string | undefined;
    try {
      version = (await client.capabilities)?.serverVersion;
      trouble = undefined;
    } catch (error) {
      trouble = innermost(messageOf(error));
    }
    // No answer: the call itself meets the same trouble, and tells what it is.
    if (version === undefined) return;
    if (version === "unknown" || isOlder(version, oldestServer)) {
      const what =
        version === "unknown"
          ? `does not tell its version, so it is older than EventStoreDB ${oldestServer}, or no event store`
          : `is too old: version ${version}`;
      throw new LogFormatError(`${where} ${what}. Use EventStoreDB ${oldestServer} or later, or KurrentDB.`);
    }
    isKnown = true;
  };

  const once: KurrentSession["once"] = async (call) => {
    const client = current;
    let timer: NodeJS.Timeout | undefined;
    try {
      const late = new Promise<never>((_resolve, reject) => {
        timer = setTimeout(
          () => reject(new CallTimeoutError(`no answer in ${callTimeoutMs} ms`)),
          callTimeoutMs,
        );
      });
      const answer = isKnown ? call(client) : checkVersion(client).then(() => call(client));
      return await Promise.race([answer, late]);
    } catch (error) {
      if (isTransient(error) && errorType(error) !== "not-leader") replace(client);
      throw error;
    } finally {
      clearTimeout(timer);
    }
  };

  const isTlsTrouble = (error: unknown) =>
    errorType(error) === "unavailable" && trouble !== undefined && tlsTrouble.test(trouble);

  const unavailable = (cause: unknown) => {
    const type = errorType(cause);
    const told = trouble ?? messageOf(cause);
    const [reason, next] =
      type === "access-denied"
        ? [
            "the server refuses the user name or password, or what they may do",
            "Check them in the URL: kurrentdb://user:password@host:2113.",
          ]
        : isTlsTrouble(cause)
          ? [
              `no TLS connection can be made (${told})`,
              "Name the authority that signed the server's certificate with tlsCAFile=<file>, or write tls=false for a server without TLS.",
            ]
          : [
              type === "timeout"
                ? `the server does not answer (${told})`
                : `the server cannot be reached (${told})`,
              "Check the address, tls=true or tls=false, and that the server runs.",
            ];
    return new LogUnavailableError(`${where} cannot be used: ${reason}. ${next}`, { cause });
  };

  const backOff = async (startedAt: number, attempt: number) => {
    if (Date.now() - startedAt >= reconnectMs) return false;
    await new Promise((resolve) => setTimeout(resolve, Math.min(1000, 25 * 2 ** attempt)));
    return true;
  };

  return {
    once,
    unavailable,
    backOff,
    client: () => current,
    async repeat(call) {
      const startedAt = Date.now();
      for (let attempt = 0; ; attempt++) {
        try {
          return await once(call);
        } catch (error) {
          if (error instanceof LogUnavailableError || error instanceof LogFormatError) throw error;
          const isRefused = errorType(error) !== "" && !isTransient(error);
          if (isRefused && errorType(error) !== "access-denied") throw error;
          if (isRefused || isTlsTrouble(error) || !(await backOff(startedAt, attempt)))
            throw unavailable(error);
        }
      }
    },
    async close() {
      await dispose(current);
      await Promise.all(disposals);
    },
  };
}

import { LogUnavailableError } from "./event-log.ts";
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
      return await Promise.race([call(client), late]);
    } catch (error) {
      if (isTransient(error) && errorType(error) !== "not-leader") replace(client);
      throw error;
    } finally {
      clearTimeout(timer);
    }
  };

  const unavailable = (cause: unknown) => {
    const reason = cause instanceof Error ? cause.message : String(cause);
    const next =
      errorType(cause) === "access-denied"
        ? "Check the user name and the password in the URL."
        : "Check the address, tls=true or tls=false, and that the server runs.";
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
          if (error instanceof LogUnavailableError) throw error;
          const isRefused = errorType(error) !== "" && !isTransient(error);
          if (isRefused && errorType(error) !== "access-denied") throw error;
          if (isRefused || !(await backOff(startedAt, attempt))) throw unavailable(error);
        }
      }
    },
    async close() {
      await dispose(current);
      await Promise.all(disposals);
    },
  };
}

import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { type EventLog, LogUnavailableError } from "../../../events/log/event-log.ts";
import { describeAppends } from "./event-log-appends.contract.ts";
import { describeContent } from "./event-log-content.contract.ts";
import { describeInTheLarge } from "./event-log-large.contract.ts";
import { describeReads } from "./event-log-reads.contract.ts";
import { describeSubscriptions } from "./event-log-subscriptions.contract.ts";
import { collect, newEvents } from "./new-events.ts";

/** One empty store that an adapter opened for one test. */
export interface LogUnderTest {
  readonly log: EventLog;
  /** Closes the log and removes everything. */
  dispose(): Promise<void>;
}

const stream = "thread-1";

/**
 * What every event log must do. The test of an adapter is one call of this function, and one of `describeSharedLog`
 * when several processes can use it.
 *
 * @param open gives a new, empty store for each test
 * @param options.many events of the large test, a multiple of 2,000; less for stores that are slow to fill
 */
export function describeEventLog(
  name: string,
  open: () => Promise<LogUnderTest>,
  { many = 100_000 }: { readonly many?: number } = {},
): void {
  describe(`event log: ${name}`, () => {
    let opened: LogUnderTest;
    let log: EventLog;
    beforeEach(async () => {
      opened = await open();
      log = opened.log;
    });
    afterEach(async () => {
      await opened.dispose();
    });
    describeAppends(() => log);
    describeContent(() => log);
    describeReads(() => log);
    describeSubscriptions(() => log);

    describeInTheLarge(() => log, many);

    it("refuses everything after it was closed, and may be closed again", async () => {
      await log.append(stream, newEvents(1), { expectedVersion: 0 });
      await log.close();
      await log.close();
      const attempts = [
        () => log.append(stream, newEvents(1), { expectedVersion: 1 }),
        () => log.head(stream),
        () => log.streams(),
        () => log.erase(stream),
        () => collect(log.read(stream)),
        () => collect(log.readAll()),
        () => log.subscribe()[Symbol.asyncIterator]().next(),
      ];
      for (const attempt of attempts) await expect(attempt()).rejects.toThrow(LogUnavailableError);
    });
  });
}

import { afterEach, beforeEach } from "vitest";
import type { KurrentModule } from "../../../events/log/kurrentdb.ts";
import { describeInTheLarge } from "./event-log-large.contract.ts";
import type { SharedLogUnderTest } from "./event-log-sharing.contract.ts";
import { describeOnDouble } from "./kurrentdb-on-double.ts";

/** 100,000 events through one of the two clients. */
export function describeLargeOnDouble(client: KurrentModule): void {
  describeOnDouble(client, (openEmpty) => {
    let opened: SharedLogUnderTest;
    beforeEach(async () => {
      opened = await openEmpty();
    });
    afterEach(() => opened.dispose());
    describeInTheLarge(() => opened.log, 100_000);
  });
}

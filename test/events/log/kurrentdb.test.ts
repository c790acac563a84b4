import * as kurrent from "@kurrent/kurrentdb-client";
import { describeEventLog } from "./event-log.contract.ts";
import { describeSharedLog } from "./event-log-sharing.contract.ts";
import { describeOnDouble } from "./kurrentdb-on-double.ts";
import { describeSideStore } from "./side-store.contract.ts";

describeOnDouble(kurrent, (openEmpty) => {
  // All 100,000 are in a file of their own.
  describeEventLog("kurrentdb", openEmpty, { many: 4000 });
  describeSharedLog("kurrentdb", openEmpty);
  describeSideStore("kurrentdb", openEmpty);
});

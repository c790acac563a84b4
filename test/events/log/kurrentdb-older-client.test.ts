import * as eventStore from "@eventstore/db-client";
import { vi } from "vitest";
import { describeEventLog } from "./event-log.contract.ts";
import { describeSharedLog } from "./event-log-sharing.contract.ts";
import { describeOnDouble } from "./kurrentdb-on-double.ts";
import { describeSideStore } from "./side-store.contract.ts";

vi.hoisted(() => {
  process.env.EVENT_STORE_CLIENT = "@eventstore/db-client";
});

describeOnDouble(eventStore, (openEmpty) => {
  describeEventLog("kurrentdb", openEmpty, { many: 4000 });
  describeSharedLog("kurrentdb", openEmpty);
  describeSideStore("kurrentdb", openEmpty);
});

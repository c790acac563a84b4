import * as kurrent from "@kurrent/kurrentdb-client";
import { afterEach, beforeEach } from "vitest";
import { describeInTheLarge } from "./event-log-large.contract.ts";
import type { SharedLogUnderTest } from "./event-log-sharing.contract.ts";
import { describeOnDouble } from "./kurrentdb-on-double.ts";

describeOnDouble(kurrent, (openEmpty) => {
  let opened: SharedLogUnderTest;
  beforeEach(async () => {
    opened = await openEmpty();
  });
  afterEach(() => opened.dispose());
  describeInTheLarge(() => opened.log, 100_000);
});

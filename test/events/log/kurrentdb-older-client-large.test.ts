import * as eventStore from "@eventstore/db-client";
import { vi } from "vitest";
import { describeLargeOnDouble } from "./kurrentdb-large.ts";

vi.hoisted(() => {
  process.env.EVENT_STORE_CLIENT = "@eventstore/db-client";
});

describeLargeOnDouble(eventStore);

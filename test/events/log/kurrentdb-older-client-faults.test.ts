import * as eventStore from "@eventstore/db-client";
import { vi } from "vitest";
import { describeFaults } from "./kurrentdb-faults.contract.ts";

vi.hoisted(() => {
  process.env.EVENT_STORE_CLIENT = "@eventstore/db-client";
});

describeFaults("@eventstore/db-client", eventStore);

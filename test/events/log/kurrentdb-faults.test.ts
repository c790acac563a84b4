import * as client from "@kurrent/kurrentdb-client";
import { expect, it } from "vitest";
import { openKurrentDb } from "../../../events/log/kurrentdb.ts";
import { describeFaults } from "./kurrentdb-faults.contract.ts";

describeFaults("@kurrent/kurrentdb-client", client);

it("names the address that cannot be read, without its password", async () => {
  const refused = openKurrentDb("kurrentdb://ada:secret@", { client });
  await expect(refused).rejects.toMatchObject({ name: "StoreUrlError" });
  await expect(refused).rejects.not.toThrow(/secret/);
});

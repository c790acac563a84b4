import { createMemoryKeyStore } from "../../../events/keys/memory.ts";
import { describeKeyStore } from "./key-store.contract.ts";

describeKeyStore("memory", async () => createMemoryKeyStore());

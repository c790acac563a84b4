import { createMemoryProjectionStore } from "../../projections/memory-projection-store.ts";
import { projectionStoreContract } from "./projection-store.contract.ts";

projectionStoreContract("memory", async () => createMemoryProjectionStore());

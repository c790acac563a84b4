import { fileURLToPath } from "node:url";

/** What `buildChild` bundles for the processes of a cluster. */
export const workerScript = fileURLToPath(new URL("./worker-process.ts", import.meta.url));

import { createValueStore } from "../../api/value-store.ts";

/** True while the dialog to fork is asked for, from wherever on the page. */
export const forkRequested = createValueStore(false);

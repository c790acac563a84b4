import { type Access, logApi } from "../api/log-api.ts";
import { createValueStore, useValue } from "../api/value-store.ts";

const access = createValueStore<Access | undefined>(undefined);

/** Asks the server what may be done here. */
export async function readAccess(): Promise<void> {
  access.set(await logApi.access());
}

/** Who the server takes the reader for; undefined while it is asked. */
export function useAccess(): Access | undefined {
  return useValue(access);
}

/** True when runs, forks and edits would not be refused. */
export function useMayChange(): boolean {
  const known = useAccess();
  return known !== undefined && !known.readOnly && known.scope !== "read";
}

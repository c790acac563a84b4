import type { SideStore } from "../log/side-store.ts";
import type { KeyStore } from "./key-store.ts";

/** The threads of a store are encrypted, and the store was opened without their keys. */
export class KeysElsewhereError extends Error {
  override readonly name = "KeysElsewhereError";
  constructor(readonly key: string) {
    super(
      `The content of this store is encrypted, and its keys are not here: ${key} is neither read nor gone on with in plain text. Bring the folder of keys here, name it (?keys=… of a kurrentdb: URL), or open the store with openStore(url, { encrypt: <its key store> }).`,
    );
  }
}

const kind = "encryption";
const key = "store";

/** Notes beside the log, where everybody who opens it looks, that its content is encrypted. */
export async function markEncrypted(side: SideStore): Promise<void> {
  if (!(await isMarkedEncrypted(side))) await side.put(kind, key, true);
}

export async function isMarkedEncrypted(side: SideStore): Promise<boolean> {
  return (await side.get(kind, key)) !== undefined;
}

/** In place of keys that are not at hand: whatever needs one is refused. */
export function createElsewhereKeys(): KeyStore {
  const refuse = async (id: string): Promise<never> => {
    throw new KeysElsewhereError(id);
  };
  return { kind: "elsewhere", read: refuse, create: refuse, replace: refuse, destroy: refuse };
}

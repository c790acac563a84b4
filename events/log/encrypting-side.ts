import type { Json } from "../json.ts";
import { decrypt, encrypt, purposeKey } from "../keys/content-key.ts";
import type { ThreadKeys } from "../keys/thread-keys.ts";
import type { SideRecord, SideStore } from "./side-store.ts";

/** Records of these kinds hold content; their keys begin with the stream, up to the first bar. */
const contentKinds: readonly string[] = ["snapshot"];

/** Encrypts side records that hold content with the key of their thread. A record without a key any more is not there. */
export function createEncryptingSide(inner: SideStore, keys: ThreadKeys): SideStore {
  const holdsContent = (kind: string) => contentKinds.includes(kind);
  const keyIdOf = (key: string) => key.split("|", 1)[0] ?? key;
  const bound = (kind: string, key: string) => `${kind}\n${key}`;

  const open = async (kind: string, record: SideRecord): Promise<SideRecord | undefined> => {
    if (typeof record.value !== "string") return record;
    try {
      const found = await keys.find(keyIdOf(record.key));
      if (found === undefined || found === "destroyed") return undefined;
      const secret = purposeKey(found.key, "side");
      const plain = decrypt(secret, Buffer.from(record.value, "base64"), bound(kind, record.key));
      return { ...record, value: JSON.parse(plain.toString()) as Json };
    } catch {
      // What is beside the log is not the truth: a record that cannot be opened is as good as none.
      return undefined;
    }
  };

  return {
    async get(kind, key) {
      const record = await inner.get(kind, key);
      return record && holdsContent(kind) ? open(kind, record) : record;
    },
    async put(kind, key, value, options) {
      if (!holdsContent(kind)) return inner.put(kind, key, value, options);
      const { key: secretKey } = await keys.ensure(keyIdOf(key));
      const plain = Buffer.from(JSON.stringify(value));
      const sealed = encrypt(purposeKey(secretKey, "side"), plain, bound(kind, key)).toString("base64");
      return inner.put(kind, key, sealed, options);
    },
    delete: (kind, key) => inner.delete(kind, key),
    async list(kind, options) {
      const records = await inner.list(kind, options);
      if (!holdsContent(kind)) return records;
      const opened = await Promise.all(records.map((record) => open(kind, record)));
      return opened.filter((record) => record !== undefined);
    },
  };
}

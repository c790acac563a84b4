import { beforeEach, describe, expect, test } from "vitest";
import { KeyConflictError, KeyDestroyedError, type KeyStore } from "../../../events/keys/key-store.ts";

const bytes = (text: string) => new Uint8Array(Buffer.from(text));

/** What every key store must do. */
export function describeKeyStore(kind: string, open: () => Promise<KeyStore>): void {
  describe(`key store: ${kind}`, () => {
    let keys: KeyStore;
    beforeEach(async () => {
      keys = await open();
    });

    test("keeps a key, and the first one of several", async () => {
      expect(await keys.read("thread-a")).toBeUndefined();
      const made = await Promise.all(["1", "2", "3"].map((text) => keys.create("thread-a", bytes(text))));
      const stored = await keys.read("thread-a");
      for (const key of made) expect(key).toEqual(stored);
      expect(await keys.create("thread-a", bytes("later"))).toEqual(stored);
    });

    test("replaces a key only by who knows it", async () => {
      await keys.create("thread-a", bytes("one"));
      await keys.replace("thread-a", bytes("one"), bytes("two"));
      expect(await keys.read("thread-a")).toEqual(bytes("two"));
      await expect(keys.replace("thread-a", bytes("one"), bytes("three"))).rejects.toThrow(KeyConflictError);
      await expect(keys.replace("thread-b", bytes("one"), bytes("two"))).rejects.toThrow(KeyConflictError);
    });

    test("remembers that a key was destroyed, also one that never was", async () => {
      await keys.create("thread-a", bytes("one"));
      for (const id of ["thread-a", "thread-a", "thread-b"]) await keys.destroy(id);
      expect(await keys.read("thread-a")).toBe("destroyed");
      await expect(keys.create("thread-a", bytes("new"))).rejects.toThrow(KeyDestroyedError);
      await expect(keys.create("thread-b", bytes("new"))).rejects.toThrow(KeyDestroyedError);
    });
  });
}

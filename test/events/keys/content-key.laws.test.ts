import fc from "fast-check";
import { describe, expect, test } from "vitest";
import {
  createContentKey,
  createLeafDeriver,
  decrypt,
  encrypt,
  leafOf,
  parseContentKey,
  serializeContentKey,
  withoutLeaves,
} from "../../../events/keys/content-key.ts";

const leaf = fc.integer({ min: 0, max: 0xffff_ffff }).map((number) => number.toString(16).padStart(8, "0"));

describe("a content key", () => {
  test("loses the leaves that are taken out, and keeps all others as they were", () => {
    fc.assert(
      fc.property(
        fc.uniqueArray(leaf, { maxLength: 12 }),
        fc.uniqueArray(leaf, { maxLength: 12 }),
        (gone, kept) => {
          const key = createContentKey();
          const whole = createLeafDeriver(key);
          const left = createLeafDeriver(parseContentKey(serializeContentKey(withoutLeaves(key, gone))));
          for (const one of gone) expect(left(one)).toBeUndefined();
          for (const one of kept) if (!gone.includes(one)) expect(left(one)).toEqual(whole(one));
        },
      ),
      { numRuns: 50 },
    );
  });

  test("does not hold a node from which a lost leaf could be derived", () => {
    const gone = leafOf("event", "title");
    const { nodes } = withoutLeaves(createContentKey(), [gone]);
    expect([...nodes.keys()].filter((path) => gone.startsWith(path))).toEqual([]);
  });

  test("derives another secret for every field", () => {
    const derive = createLeafDeriver(createContentKey());
    const secrets = ["a", "b", "c"].map((path) => derive(leafOf("event", path))?.toString());
    expect(new Set(secrets).size).toBe(3);
  });
});

describe("a ciphertext", () => {
  const secret = Buffer.alloc(32, 7);
  test("opens to what it was", () => {
    fc.assert(
      fc.property(fc.uint8Array(), fc.string(), (plain, bound) => {
        expect(new Uint8Array(decrypt(secret, encrypt(secret, plain, bound), bound))).toEqual(plain);
      }),
    );
  });

  test("does not open when a bit of it, its key or its place is another", () => {
    const sealed = encrypt(secret, Buffer.from("content"), "thread-a");
    for (let index = 0; index < sealed.length; index++) {
      const changed = Buffer.from(sealed);
      changed[index] = (changed[index] ?? 0) ^ 1;
      expect(() => decrypt(secret, changed, "thread-a")).toThrow();
    }
    expect(() => decrypt(secret, sealed, "thread-b")).toThrow();
    expect(() => decrypt(Buffer.alloc(32, 8), sealed, "thread-a")).toThrow();
  });
});

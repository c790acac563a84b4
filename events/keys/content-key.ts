import { createCipheriv, createDecipheriv, createHash, createHmac, randomBytes } from "node:crypto";

/**
 * Secret of one stream. Each field of each event has a key of its own, a leaf of a tree whose inner nodes derive their
 * children (Goldreich, Goldwasser, Micali). Giving a node up for its siblings makes one leaf underivable for ever
 * while all others stay: so one field can be redacted although its ciphertext stays in the chain.
 */
export interface ContentKey {
  /** Derivable subtrees by their path from the root, in hex digits; `""` is the root. */
  readonly nodes: ReadonlyMap<string, Uint8Array>;
  /** Secret of blobs and side records. */
  readonly rest: Uint8Array;
}

/** Hex digits from the root to a leaf: a redacted field takes one of 100,000 others along with a chance of 1 in 40,000. */
const depth = 8;
const digits = "0123456789abcdef";
const keyBytes = 32;
const nonceBytes = 12;
const tagBytes = 16;

export function createContentKey(): ContentKey {
  return { nodes: new Map([["", randomBytes(keyBytes)]]), rest: randomBytes(keyBytes) };
}

export function serializeContentKey(key: ContentKey): Uint8Array {
  const nodes = Object.fromEntries(
    [...key.nodes].map(([path, seed]) => [path, Buffer.from(seed).toString("base64")]),
  );
  return Buffer.from(JSON.stringify({ nodes, rest: Buffer.from(key.rest).toString("base64") }));
}

export function parseContentKey(bytes: Uint8Array): ContentKey {
  const { nodes, rest } = JSON.parse(Buffer.from(bytes).toString()) as {
    nodes: Record<string, string>;
    rest: string;
  };
  return {
    nodes: new Map(Object.entries(nodes).map(([path, seed]) => [path, Buffer.from(seed, "base64")])),
    rest: Buffer.from(rest, "base64"),
  };
}

/** The leaf of one field of one event. */
export function leafOf(eventId: string, path: string): string {
  return createHash("sha256").update(`${eventId}\n${path}`).digest("hex").slice(0, depth);
}

function childOf(seed: Uint8Array, digit: string): Uint8Array {
  return createHmac("sha256", seed).update(digit).digest();
}

/** The subtree that holds a leaf. */
function rootOf(key: ContentKey, leaf: string): string | undefined {
  for (let length = 0; length <= depth; length++) {
    const path = leaf.slice(0, length);
    if (key.nodes.has(path)) return path;
  }
  return undefined;
}

/** Derives leaf keys and remembers the inner nodes that many leaves share. */
export function createLeafDeriver(key: ContentKey): (leaf: string) => Uint8Array | undefined {
  const rememberedDepth = 3;
  const remembered = new Map(key.nodes);
  return (leaf) => {
    const root = rootOf(key, leaf);
    if (root === undefined) return undefined;
    let from = root.length;
    for (let length = rememberedDepth; length > from; length--) {
      if (remembered.has(leaf.slice(0, length))) from = length;
    }
    let seed = remembered.get(leaf.slice(0, from));
    for (let length = from + 1; seed && length <= depth; length++) {
      seed = childOf(seed, leaf[length - 1] ?? "");
      if (length <= rememberedDepth) remembered.set(leaf.slice(0, length), seed);
    }
    return seed;
  };
}

/** The same secret without the keys of some leaves. */
export function withoutLeaves(key: ContentKey, leaves: Iterable<string>): ContentKey {
  const nodes = new Map(key.nodes);
  for (const leaf of leaves) {
    const root = rootOf({ ...key, nodes }, leaf);
    if (root === undefined) continue;
    let seed = nodes.get(root);
    nodes.delete(root);
    for (let length = root.length; seed && length < depth; length++) {
      for (const digit of digits) {
        if (digit !== leaf[length]) nodes.set(leaf.slice(0, length) + digit, childOf(seed, digit));
      }
      seed = childOf(seed, leaf[length] ?? "");
    }
  }
  return { ...key, nodes };
}

/** Secret for one purpose, derived from the part that redaction leaves alone. */
export function purposeKey(key: ContentKey, purpose: string | Uint8Array): Uint8Array {
  return createHmac("sha256", key.rest).update(purpose).digest();
}

/** AES-256-GCM: nonce, ciphertext and tag in one. `bound` must be the same when it is opened. */
export function encrypt(
  secret: Uint8Array,
  plain: Uint8Array,
  bound: string,
  nonce = randomBytes(nonceBytes),
): Buffer {
  const cipher = createCipheriv("aes-256-gcm", secret, nonce);
  cipher.setAAD(Buffer.from(bound));
  return Buffer.concat([nonce, cipher.update(plain), cipher.final(), cipher.getAuthTag()]);
}

/** Opens what `encrypt` made; throws when it was changed or bound to something else. */
export function decrypt(secret: Uint8Array, sealed: Uint8Array, bound: string): Buffer {
  const decipher = createDecipheriv("aes-256-gcm", secret, sealed.subarray(0, nonceBytes), {
    authTagLength: tagBytes,
  });
  decipher.setAAD(Buffer.from(bound));
  decipher.setAuthTag(sealed.subarray(sealed.length - tagBytes));
  return Buffer.concat([
    decipher.update(sealed.subarray(nonceBytes, sealed.length - tagBytes)),
    decipher.final(),
  ]);
}

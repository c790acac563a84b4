import { decrypt, encrypt, purposeKey } from "../keys/content-key.ts";
import { KeyMissingError } from "../keys/key-store.ts";
import type { ThreadKeys } from "../keys/thread-keys.ts";
import { BlobMissingError, type BlobStore } from "./blob-store.ts";

/** Starts an encrypted blob; then come the length and the name of its key, its fingerprint and the ciphertext. */
const magic = Buffer.from("TFBLOB\u0000\u0001", "latin1");
const fingerprintBytes = 32;
/** Every blob has a key of its own, so one nonce does for all. */
const onlyNonce = Buffer.alloc(12);

/** Name of the key for blobs that belong to no thread, such as shared system prompts. */
export const storeKeyId = "store";

function frame(keyId: string, fingerprint: Uint8Array, ciphertext: Uint8Array): Buffer {
  const name = Buffer.from(keyId);
  const length = Buffer.alloc(2);
  length.writeUInt16BE(name.length);
  return Buffer.concat([magic, length, name, fingerprint, ciphertext]);
}

function unframe(bytes: Uint8Array) {
  const buffer = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  if (!buffer.subarray(0, magic.length).equals(magic)) return undefined;
  const nameEnd = magic.length + 2 + buffer.readUInt16BE(magic.length);
  return {
    keyId: buffer.toString("utf8", magic.length + 2, nameEnd),
    fingerprint: buffer.subarray(nameEnd, nameEnd + fingerprintBytes),
    ciphertext: buffer.subarray(nameEnd + fingerprintBytes),
  };
}

/**
 * Encrypts blobs with the key of the thread they belong to. A blob's digest is that of its ciphertext: the same bytes
 * in one thread are stored once, in two threads they have digests that nobody without the keys can link. Bytes that
 * were stored before encryption was on are read as they are.
 *
 * @param keyId the thread's stream, or `store`
 */
export function createEncryptingBlobs(inner: BlobStore, keys: ThreadKeys, keyId: string): BlobStore {
  return {
    stored: inner.stored ?? inner,
    async put(content, mimeType) {
      const plain = typeof content === "string" ? Buffer.from(content) : content;
      const { key } = await keys.ensure(keyId);
      const fingerprint = purposeKey(key, Buffer.concat([Buffer.from("fingerprint\n"), plain]));
      const secret = purposeKey(key, Buffer.concat([Buffer.from("blob\n"), fingerprint]));
      const ciphertext = encrypt(secret, plain, keyId, onlyNonce);
      const { sha256 } = await inner.put(frame(keyId, fingerprint, ciphertext), "application/octet-stream");
      return { sha256, mimeType, size: plain.length };
    },
    async get(sha256) {
      const bytes = await inner.get(sha256);
      const framed = unframe(bytes);
      if (!framed) return bytes;
      const open = await keys.find(framed.keyId);
      if (open === undefined) throw new KeyMissingError(framed.keyId);
      if (open === "destroyed") throw new BlobMissingError(sha256);
      const secret = purposeKey(open.key, Buffer.concat([Buffer.from("blob\n"), framed.fingerprint]));
      return decrypt(secret, framed.ciphertext, framed.keyId);
    },
    has: (sha256) => inner.has(sha256),
    delete: (sha256, options) => inner.delete(sha256, options),
    list: () => inner.list(),
  };
}

/** The store underneath an encrypting one: bytes under their own digests. Any other store is its own. */
export function storedBlobs(blobs: BlobStore): BlobStore {
  return blobs.stored ?? blobs;
}

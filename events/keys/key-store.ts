/** Secret of one stream as the store keeps it; destroyed: it was there and is gone for good; undefined: never seen. */
export type StoredKey = Uint8Array | "destroyed" | undefined;

/** The key was destroyed on purpose: what it protected cannot be read again, and nothing more is written with it. */
export class KeyDestroyedError extends Error {
  override readonly name = "KeyDestroyedError";
  constructor(readonly key: string) {
    super(
      `The content key of ${key} was destroyed when it was erased. Nothing can be added to it; use another thread id.`,
    );
  }
}

/** A key that was used is not there, and was not destroyed either. */
export class KeyMissingError extends Error {
  override readonly name = "KeyMissingError";
  constructor(readonly key: string) {
    super(
      `The content key of ${key} is missing. It was not erased: restore the key store that belongs to this log.`,
    );
  }
}

/** Two processes changed one key at the same time. */
export class KeyConflictError extends Error {
  override readonly name = "KeyConflictError";
  constructor(readonly key: string) {
    super(`The content key of ${key} was changed by another process. Try again.`);
  }
}

/**
 * Where content keys are kept, apart from the log they protect: whoever copies the log alone has no content. One
 * contract suite (`test/events/keys/key-store.contract.ts`) holds for all.
 */
export interface KeyStore {
  readonly kind: string;
  read(id: string): Promise<StoredKey>;
  /** Stores a new key; gives the one that is there already. @throws {KeyDestroyedError} */
  create(id: string, key: Uint8Array): Promise<Uint8Array>;
  /**
   * Puts `next` in the place of `current` and overwrites the old one.
   * @throws {KeyConflictError} the key is not `current` any more
   */
  replace(id: string, current: Uint8Array, next: Uint8Array): Promise<void>;
  /** Overwrites the key and remembers that it was destroyed. Destroying again changes nothing. */
  destroy(id: string): Promise<void>;
}

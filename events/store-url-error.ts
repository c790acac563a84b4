/** A store URL cannot be used as it is written. */
export class StoreUrlError extends Error {
  override readonly name = "StoreUrlError";
}

/** Code of a middleware threw. */
export class HookError extends Error {
  override readonly name = "HookError";
  constructor(
    readonly middleware: string,
    /** `beforeAgent`, `wrapModelCall`, `release` … */
    readonly hook: string,
    override readonly cause: unknown,
  ) {
    const reason = cause instanceof Error ? `${cause.name}: ${cause.message}` : String(cause);
    super(`${hook} of middleware ${middleware} failed: ${reason}`, { cause });
  }
}

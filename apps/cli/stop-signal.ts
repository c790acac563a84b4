/** Resolves at the first Ctrl-C or SIGTERM. */
export function stopSignal(interrupted: AbortSignal): Promise<void> {
  return new Promise((done) => {
    const stop = () => done();
    if (interrupted.aborted) stop();
    interrupted.addEventListener("abort", stop, { once: true });
    process.once("SIGTERM", stop);
  });
}

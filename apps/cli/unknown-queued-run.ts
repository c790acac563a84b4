/** A command names a queued run that is not there, or not in the state that the command needs. */
export class UnknownQueuedRunError extends Error {
  override readonly name = "UnknownQueuedRunError";
  constructor(
    readonly runId: string,
    reason: string,
  ) {
    super(`${runId}: ${reason}. See what is queued with: threadfold queue`);
  }
}

/** A request was never recorded, so there is no answer to replay. Nothing was made up. */
export class ReplayMissError extends Error {
  override readonly name = "ReplayMissError";
  constructor(
    readonly source: string,
    /** `<thread>@<version>` of the recorded call that is most like the request; undefined: no calls were recorded. */
    readonly nearest: string | undefined,
    /** How the two differ, in a few lines. */
    readonly difference: string,
  ) {
    const near = nearest ? `The nearest recorded call is ${nearest}: ${difference}` : difference;
    super(
      `The model was asked something that is not recorded in ${source}. ${near} Ask what was asked then, or run with a real model.`,
    );
  }
}

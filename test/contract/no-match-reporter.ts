import type { Reporter, TestModule } from "vitest/node";

/** Says why nothing ran when no test has a name that contains the text of `--only`, and ends the process with 2. */
export default class NoMatchReporter implements Reporter {
  onTestRunEnd(testModules: readonly TestModule[], unhandledErrors: readonly unknown[]): void {
    const isBroken = unhandledErrors.length > 0 || testModules.some((file) => file.errors().length > 0);
    const states = testModules.flatMap((file) =>
      [...file.children.allTests()].map((test) => test.result().state),
    );
    if (isBroken || states.some((state) => state !== "skipped")) return;
    process.stderr.write(
      `error: No test has a name that contains "${process.env.CONTRACT_ONLY}". Run without --only, or with a part of a name that a run prints.\n`,
    );
    process.once("exit", () => {
      process.exitCode = 2;
    });
  }
}

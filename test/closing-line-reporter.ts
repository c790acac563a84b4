import type { SerializedError } from "vitest";
import type { Reporter, TestModule, TestRunEndReason, Vitest } from "vitest/node";

/** What one run came to. */
interface Outcome {
  passed: number;
  failed: number;
  skipped: number;
  interrupted: boolean;
}

/**
 * Closes a run with one plain line, `N passed, M failed` (and `, K skipped` if there are any), and fails a run in
 * which no test executed.
 *
 * A file that does not load, a `beforeAll` that throws and an error outside any test count as one failure each:
 * vitest fails the run for them, so the line must not say "0 failed".
 */
export default class ClosingLineReporter implements Reporter {
  #outcome: Outcome = { passed: 0, failed: 0, skipped: 0, interrupted: false };

  onInit(vitest: Vitest): void {
    if (vitest.config.watch) return;
    // Other reporters and vitest itself print until the end; at the exit of the process the line is the last one.
    process.once("exit", () => {
      const { passed, failed, skipped, interrupted } = this.#outcome;
      if (passed + failed === 0 || failed > 0 || interrupted) process.exitCode ||= 1;
      process.stdout.write(
        `${passed} passed, ${failed} failed${skipped > 0 ? `, ${skipped} skipped` : ""}\n`,
      );
    });
  }

  onTestRunEnd(
    testModules: readonly TestModule[],
    unhandledErrors: readonly SerializedError[],
    reason: TestRunEndReason,
  ): void {
    const outcome: Outcome = {
      passed: 0,
      failed: unhandledErrors.length,
      skipped: 0,
      interrupted: reason === "interrupted",
    };
    for (const testModule of testModules) {
      for (const group of [testModule, ...testModule.children.allSuites()]) {
        if (group.errors().length > 0) outcome.failed += 1;
      }
      for (const test of testModule.children.allTests()) {
        const { state } = test.result();
        if (state === "passed") outcome.passed += 1;
        else if (state === "failed") outcome.failed += 1;
        else outcome.skipped += 1;
      }
    }
    this.#outcome = outcome;
  }
}

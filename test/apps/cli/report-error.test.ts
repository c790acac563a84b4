import { describe, expect, test } from "vitest";
import { ThreadBusyError } from "../../../actors/thread-busy.ts";
import { exitCodeFor, isUnreachable } from "../../../apps/cli/exit-codes.ts";
import { errorLines } from "../../../apps/cli/report-error.ts";
import { LogFormatError, VersionConflict } from "../../../events/log/event-log.ts";
import { UnknownThreadError } from "../../../projections/lineage.ts";

describe("an error in three lines", () => {
  test("what, why and next come from the sentences of its message", () => {
    expect(errorLines(new Error("It broke. The disk is full. Free some space."))).toEqual({
      what: "It broke.",
      why: "The disk is full.",
      next: "Free some space.",
    });
    expect(errorLines(new Error("It broke. Try again."))).toEqual({
      what: "It broke.",
      why: undefined,
      next: "Try again.",
    });
    expect(errorLines("text")).toEqual({ what: "text", why: undefined, next: undefined });
  });

  test("a message of several lines does not become more than three", () => {
    const { what, why, next } = errorLines(new Error("boom\r\n  at line two\n\nof many\n"));
    expect({ what, why, next }).toEqual({
      what: "boom at line two of many",
      why: undefined,
      next: undefined,
    });
  });

  test("dots inside of words end no sentence", () => {
    expect(errorLines(new Error('The file "a.b.c" of v1.2 is bad.')).what).toBe(
      'The file "a.b.c" of v1.2 is bad.',
    );
  });

  test("a command that helps takes the place of advice", () => {
    const { next } = errorLines(new UnknownThreadError("x"));
    expect(next).toBe("List the threads with: threadfold threads");
    const busy = errorLines(new ThreadBusyError("t", "r", "o"));
    expect(busy.next).toContain("threadfold run --queue");
    expect(busy.why ?? "").not.toContain('whenBusy "enqueue" or');
  });
});

describe("the exit code of an error", () => {
  test.each([
    [new UnknownThreadError("x"), 3],
    [new VersionConflict("thread-x", 1, 2), 5],
    [new LogFormatError("x"), 1],
    [new TypeError("x"), 1],
    [{ name: "UnknownModelError", message: "recorded with a run" }, 2],
    [Object.assign(new Error("x"), { cause: { code: "ECONNREFUSED" } }), 7],
    ["text", 1],
  ])("%s → %i", (error, code) => {
    expect(exitCodeFor(error)).toBe(code);
  });

  test("only network errors count as unreachable", () => {
    expect(isUnreachable(new Error("fetch failed"))).toBe(true);
    expect(isUnreachable(new Error("invalid api key"))).toBe(false);
    expect(isUnreachable(undefined)).toBe(false);
  });
});

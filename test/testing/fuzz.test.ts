import { describe, expect, test } from "vitest";
import { todos } from "../../reducers/todos.ts";
import { type FuzzOptions, type FuzzProgress, fuzz } from "../../testing/fuzz.ts";
import type { LawSubject } from "../../testing/laws/law-subject.ts";
import { subjectOf } from "../../testing/subject-of.ts";

const good = subjectOf(todos);
/** Writes are merged and not replaced. */
const wrong = subjectOf({
  ...todos,
  on: {
    TodosWritten: (before: readonly object[] = [], data: { todos: readonly object[] }) => [
      ...before,
      ...data.todos,
    ],
  },
} as never);

async function last(
  subjects: readonly LawSubject[],
  options: FuzzOptions,
): Promise<FuzzProgress | undefined> {
  let progress: FuzzProgress | undefined;
  for await (progress of fuzz(subjects, options));
  return progress;
}

describe("fuzz", () => {
  test("tells how far it is, and tries every law `runs` times", async () => {
    const seen: number[] = [];
    let reports: FuzzProgress["reports"] = [];
    for await (const progress of fuzz([good], { seed: 1, runs: 150, laws: ["total", "pure"] })) {
      seen.push(progress.done);
      expect(progress.planned).toBe(300);
      reports = progress.reports;
    }
    expect(seen).toEqual([100, 200, 250, 300]);
    expect(reports.map(({ law, runs }) => `${law.name} ${runs}`)).toEqual(["total 150", "pure 150"]);
  });

  test("tries a broken law no further, and the others to their end", async () => {
    const progress = await last([wrong], { seed: 1, runs: 120, laws: ["total", "last-value-wins"] });
    const [total, lastValueWins] = progress?.reports ?? [];
    expect(total).toMatchObject({ runs: 120, broken: undefined });
    expect(lastValueWins?.broken?.events.length).toBeLessThanOrEqual(3);
    expect(lastValueWins?.runs).toBeLessThan(120);
  });

  test("a report's seed and path find the same events at once", async () => {
    const first = await last([wrong], { seed: 8, laws: ["last-value-wins"] });
    const [report] = first?.reports ?? [];
    const again = await last([wrong], {
      seed: report?.seed ?? 0,
      path: report?.broken?.path,
      laws: ["last-value-wins"],
    });
    expect(report?.broken).toBeDefined();
    expect(again?.reports[0]?.broken?.events).toEqual(report?.broken?.events);
  });

  test("`milliseconds` end it, and so does a signal", async () => {
    const timed = await last([good], { seed: 1, milliseconds: 50 });
    expect(timed?.planned).toBeUndefined();
    const stop = new AbortController();
    stop.abort();
    expect((await last([good], { seed: 1, runs: 10_000, signal: stop.signal }))?.done).toBe(100);
  });

  test("laws that only some subjects have are tried there; unknown ones are refused", async () => {
    const progress = await last([good, subjectOf(todos, { noOps: () => false })], {
      seed: 1,
      runs: 5,
      laws: ["no-ops"],
    });
    expect(progress?.reports).toHaveLength(1);
    await expect(last([good], { seed: 1, laws: ["gravity"] })).rejects.toThrow('There is no law "gravity"');
  });
});

import { describe, expect, test } from "vitest";
import { checkReducer, LawsBrokenError } from "../../testing/check-reducer.ts";
import { type SeededBug, seededBugs } from "./seeded-bugs.ts";

/** CPU time in which the kit has to find a bug on its defaults, in milliseconds. */
const maxCpuMs = 5_000;
const maxEvents = 3;

const found = new Map<SeededBug, LawsBrokenError>();

/** Checks a buggy reducer on the defaults, once. */
function find(bug: SeededBug): LawsBrokenError | undefined {
  const { reducer, events } = bug;
  if (found.has(bug)) return found.get(bug);
  try {
    checkReducer(reducer, events ? { events } : {});
  } catch (error) {
    if (!(error instanceof LawsBrokenError)) throw error;
    found.set(bug, error);
  }
  return found.get(bug);
}

describe("seeded bugs", () => {
  test.each(seededBugs)("$name: found on defaults and shrunk to at most three events", (bug) => {
    const began = process.cpuUsage();
    const error = find(bug);
    const { user, system } = process.cpuUsage(began);
    expect((user + system) / 1_000).toBeLessThan(maxCpuMs);
    const broken = error?.reports.map(({ law, broken: one }) => ({
      law: law.name,
      events: one?.events.length ?? 0,
    }));
    const own = broken?.find(({ law }) => law === bug.law);
    expect(own, `found: ${JSON.stringify(broken)}`).toBeDefined();
    expect(own?.events).toBeLessThanOrEqual(maxEvents);
  });

  test.each(seededBugs)("$name: the seed and the path of the report find the same events again", (bug) => {
    const report = find(bug)?.reports.find(({ law }) => law.name === bug.law);
    const { seed, broken, law } = report ?? {};
    expect(broken).toBeDefined();
    const again = () =>
      checkReducer(bug.reducer, {
        ...(bug.events && { events: bug.events }),
        laws: [law?.name ?? ""],
        seed,
        path: broken?.path,
      });
    expect(again).toThrow(LawsBrokenError);
    try {
      again();
    } catch (error) {
      const [same] = (error as LawsBrokenError).reports;
      expect(same?.broken?.events).toEqual(broken?.events);
    }
  });
});

import { readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { describe, expect, test } from "vitest";
import { cli, emptyFolder } from "./run-cli.ts";

const root = fileURLToPath(new URL("../../..", import.meta.url));

/** A user's file in TypeScript, which nothing has compiled. */
function source(handler: string): string {
  return `
import { z } from "${root}node_modules/zod/index.js";
import { defineEvent } from "${root}events/define-event.ts";
import { defineReducer } from "${root}reducers/define-reducer.ts";

export const StepsPlanned = defineEvent({ type: "StepsPlanned", schema: z.object({ steps: z.array(z.string()) }) });

interface Plan { readonly steps: readonly string[] }

export const plan = defineReducer<Plan>({
  field: "plan",
  initial: { steps: [] },
  algebra: "replace",
  on: { StepsPlanned: (plan: Plan, data: { steps: string[] }): Plan => ${handler} },
});
`;
}

const good = "({ steps: data.steps })";
const merging = "({ steps: [...plan.steps, ...data.steps] })";

async function folderWith(handler: string): Promise<string> {
  const cwd = await emptyFolder();
  await writeFile(join(cwd, "plan.ts"), source(handler));
  return cwd;
}

interface LawRecord {
  readonly subject: string;
  readonly law: string;
  readonly holds: boolean;
  readonly runs: number;
  readonly counterexample?: readonly unknown[];
}

describe("threadfold fuzz", () => {
  test("a reducer that keeps its laws: a table with counts, and code 0", async () => {
    const cwd = await folderWith(good);
    const { code, stdout, stderr } = await cli(
      ["fuzz", "--reducer", "plan.ts", "--runs", "40", "--seed", "1"],
      { cwd },
    );
    expect(code).toBe(0);
    expect(stdout).toMatch(/^plan\tlast-value-wins\t40\t\d+\t\d+ %\tholds$/m);
    expect(stderr).toContain("seed 1");
    expect(stderr).toMatch(/events: StepsPlanned \d+ %, NobodyKnowsThis \d+ %/);
  });

  test("a broken one: code 4, the events as NDJSON, and the command that repeats it", async () => {
    const cwd = await folderWith(merging);
    const args = ["fuzz", "--reducer", "plan.ts", "--seed", "7", "--save", "bug.ndjson"];
    const { code, stdout, stderr } = await cli(args, { cwd });
    expect(code).toBe(4);
    expect(stderr).toContain("broken: plan last-value-wins");
    const saved = await readFile(join(cwd, "bug.ndjson"), "utf8");
    expect(saved).toBe(stdout);
    const [header, ...events] = saved.trim().split("\n");
    expect(JSON.parse(header ?? "")).toMatchObject({ format: "threadfold.events" });
    expect(events.length).toBeLessThanOrEqual(3);
    for (const line of events) expect(JSON.parse(line)).toMatchObject({ type: "StepsPlanned" });

    const replayed = await cli(["replay", "bug.ndjson"], { cwd });
    expect(replayed).toMatchObject({
      code: 0,
      stdout: expect.stringContaining(`refolded ${events.length} events`),
    });

    const repeat = /repeat: threadfold (.+)$/m.exec(stderr)?.[1] ?? "";
    const again = await cli(repeat.split(" "), { cwd });
    expect(again).toMatchObject({ code: 4, stdout });
  });

  test("--laws and --field choose, --json gives everything as data", async () => {
    const cwd = await folderWith(merging);
    const { code, stdout } = await cli(
      ["fuzz", "--reducer", "plan.ts", "--field", "plan", "--laws", "total,pure", "--runs", "10", "--json"],
      { cwd },
    );
    expect(code).toBe(0);
    const { laws } = JSON.parse(stdout) as { laws: readonly LawRecord[] };
    expect(laws.map(({ subject, law, holds, runs }) => `${subject} ${law} ${holds} ${runs}`)).toEqual([
      "plan total true 10",
      "plan pure true 10",
    ]);
  });

  test("--time ends the search, whatever is left of it", async () => {
    const cwd = await folderWith(good);
    const began = performance.now();
    const { code, stdout } = await cli(
      ["fuzz", "--reducer", "plan.ts", "--time", "1s", "--runs", "100000000"],
      { cwd },
    );
    expect(code).toBe(0);
    expect(stdout).toContain("total");
    expect(performance.now() - began).toBeLessThan(25_000);
  });

  test("without a file the built-in state and its fields are fuzzed", async () => {
    const cwd = await emptyFolder();
    const { code, stdout } = await cli(["fuzz", "--runs", "3", "--ndjson"], { cwd });
    expect(code).toBe(0);
    const records = stdout
      .trim()
      .split("\n")
      .map((line) => JSON.parse(line) as LawRecord);
    const subjects = new Set(records.map(({ subject }) => subject));
    for (const subject of ["state", "messages", "todos", "sandbox"]) expect(subjects.has(subject)).toBe(true);
  });

  test.each([
    [["--reducer", "nowhere.ts"], 3, /no file "nowhere.ts"/],
    [["--reducer", "plan.ts", "--laws", "gravity"], 2, /no law "gravity"/],
    [["--reducer", "plan.ts", "--field", "other"], 2, /no field "other"/],
    [["--reducer", "plan.ts", "--path", "1:2"], 2, /belongs to one law/],
    [["--seed", "many"], 2, /whole number/],
    [["--time", "soon"], 2, /like 60s/],
  ])("a wrong call is told: %j", async (args, expected, message) => {
    const cwd = await folderWith(good);
    const { code, stderr } = await cli(["fuzz", ...args], { cwd });
    expect(code).toBe(expected);
    expect(stderr).toMatch(message);
  });

  test("a file that does not load, or exports nothing that folds, is told", async () => {
    const cwd = await emptyFolder();
    await writeFile(join(cwd, "wrong.ts"), "export const = 1;");
    await writeFile(join(cwd, "empty.ts"), "export const answer: number = 42;");
    expect(await cli(["fuzz", "--reducer", "wrong.ts"], { cwd })).toMatchObject({ code: 2 });
    const { code, stderr } = await cli(["fuzz", "--reducer", "empty.ts"], { cwd });
    expect([code, stderr]).toEqual([2, expect.stringContaining("Nothing that is exported folds events")]);
  });
});

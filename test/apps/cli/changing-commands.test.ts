import { chmod, mkdir, readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, onTestFinished, test, vi } from "vitest";
import { openStore } from "../../../events/open-store.ts";
import { ThreadCreated } from "../../../events/thread.ts";
import { appendDrafts } from "../../projections/append-drafts.ts";
import { cli, emptyFolder } from "./run-cli.ts";
import { reportFile, reportId, sampleStore } from "./sample-store.ts";

vi.setConfig({ testTimeout: 120_000 });

/** A folder with the threads `parent`, its fork `child`, and a report; `parent` has 15 events. */
async function folderWithThreads(): Promise<string> {
  const { folder, remove } = await sampleStore();
  onTestFinished(() => remove());
  return folder;
}

describe("fork and rewind", () => {
  test("a fork prints only its id; title and patch are recorded in it", async () => {
    const cwd = await folderWithThreads();
    await writeFile(
      join(cwd, "patch.json"),
      '[{"op":"replace","path":"/messages/0/content","value":"edited"}]',
    );
    const edited = ["fork", "parent", "--as", "two", "--title", "Zwei", "--edit", "patch.json"];
    expect(await cli(edited, { cwd })).toMatchObject({ code: 0, stdout: "two\n" });
    const state = JSON.parse((await cli(["state", "two"], { cwd })).stdout);
    expect(state.title).toBe("Zwei");
    expect(state.messages[0].content).toBe("edited");
    expect((await cli(["state", "parent", "--path", "$.messages[0].content"], { cwd })).stdout).toContain(
      "Frage r1",
    );
  });

  test("a fork under an id that is taken, from no position, or with a patch that does not apply is refused", async () => {
    const cwd = await folderWithThreads();
    const taken = await cli(["fork", "parent", "--as", "child"], { cwd });
    expect(taken.code).toBe(5);
    expect(taken.stderr).toMatch(/thread-child is there already.*\n.*another id/);
    expect(await cli(["fork", "parent@run:"], { cwd })).toMatchObject({ code: 2, stdout: "" });
    const bad = '[{"op":"replace","path":"/no/where","value":1}]';
    expect((await cli(["fork", "parent", "--edit", "-"], { cwd, input: bad })).code).toBe(2);
  });

  test("a rewind gives the state of then again, and what was after it stays readable", async () => {
    const cwd = await folderWithThreads();
    const { stdout, stderr } = await cli(["rewind", "parent@-10", "--reason", "try again"], { cwd });
    expect(stdout).toBe("parent@16\n");
    expect(stderr).toContain("threadfold state parent@15");
    expect((await cli(["diff", "parent@5", "@head", "--exit-code"], { cwd })).code).toBe(0);
    const later = await cli(["state", "parent@15", "--path", "$.messages[*].type"], { cwd });
    expect(later.stdout.trim().split("\n")).toHaveLength(4);
    expect((await cli(["events", "parent", "--reverse", "--limit", "1"], { cwd })).stdout).toContain(
      "to @5: try again",
    );
  });
});

describe("export and import", () => {
  test("out of one store, into another, byte for byte; stdin and files", async () => {
    const cwd = await folderWithThreads();
    const exported = await cli(["export", "--all", "--blobs"], { cwd });
    expect(exported.stderr).toBe("Exported 3 threads in 67 lines.\n");
    const other = await emptyFolder();
    const imported = await cli(["import", "-"], { cwd: other, input: exported.stdout });
    expect(imported).toMatchObject({ code: 0, stdout: `${reportId}\nparent\nchild\n` });
    const out = join(other, "again.ndjson");
    expect((await cli(["export", "--all", "--blobs", "-o", out], { cwd: other })).code).toBe(0);
    expect(await readFile(out, "utf8")).toBe(exported.stdout);
    const twice = await cli(["import", out], { cwd: other });
    expect(twice.stderr).toContain("it was there already, nothing added");
  });

  test("a LangGraph thread state folds to its values; what was not taken as it is gets told", async () => {
    const cwd = await emptyFolder();
    const { code, stdout, stderr } = await cli(["import", reportFile], { cwd });
    expect({ code, stdout }).toEqual({ code: 0, stdout: `${reportId}\n` });
    expect(stderr).not.toContain("Not as it was");
    const state = JSON.parse((await cli(["state", reportId], { cwd })).stdout);
    const { values } = JSON.parse(await readFile(reportFile, "utf8"));
    expect(state).toMatchObject(values);
    const odd = JSON.stringify({ values: { messages: [{ type: "human", content: "x" }] }, next: ["model"] });
    const noted = await cli(["import", "-", "--as", "odd", "--json"], { cwd, input: odd });
    expect(JSON.parse(noted.stdout)).toMatchObject({
      threads: [{ threadId: "odd" }],
      notes: [/id/, /model/].map((re) => expect.stringMatching(re)),
    });
  });

  test("bad files are refused with the line, and nothing is written", async () => {
    const cwd = await folderWithThreads();
    const { stdout } = await cli(["export", "child"], { cwd });
    const other = await emptyFolder();
    const malformed = await cli(["import", "-"], {
      cwd: other,
      input: stdout.replace('"version":3', '"version":'),
    });
    expect(malformed.code).toBe(1);
    expect(malformed.stderr).toMatch(/error: Line 4 of the export: it is no JSON/);
    const broken = await cli(["import", "-"], {
      cwd: other,
      input: stdout.replace("Frage c1", "Frage c2"),
    });
    expect(broken.code).toBe(4);
    expect(broken.stderr).toContain("child@3 (line 19)");
    expect((await cli(["threads"], { cwd: other })).stdout).toBe("");
    const differs = await cli(["import", "-", "--as", "child"], { cwd, input: '{"values":{"messages":[]}}' });
    expect(differs.code).toBe(5);
    expect((await cli(["import", "nowhere.json"], { cwd })).code).toBe(3);
    expect((await cli(["import", "-"], { cwd, input: '{"a":1}' })).stderr).toContain("This is no thread");
  });
});

describe("errors are three short lines with the right exit code", () => {
  let shared: string;
  let removeShared: () => Promise<void>;
  beforeAll(async () => {
    ({ folder: shared, remove: removeShared } = await sampleStore());
    const store = await openStore(`sqlite:${join(shared, ".threadfold", "threads.db")}`);
    await appendDrafts(store.log, "parable", [ThreadCreated({})]);
    await store.close();
    await mkdir(join(shared, "nofile"));
  });
  afterAll(() => removeShared());

  test.each<[string, string[], number, RegExp]>([
    ["an unknown command", ["bogus"], 2, /Unknown command 'bogus'/],
    ["a missing argument", ["state"], 2, /Missing required argument/],
    ["an unknown option", ["threads", "--nope"], 2, /Unknown option '--nope'/],
    ["a bad choice", ["diff", "a", "b", "--format", "x"], 2, /Allowed choices are pretty, patch, names/],
    ["a bad number", ["threads", "--limit", "0"], 2, /no whole number/],
    ["a bad time", ["threads", "--since", "soon"], 2, /"soon" is no time/],
    ["an unknown thread", ["events", "nobody"], 3, /There is no thread "nobody"/],
    ["an unknown position", ["state", "parent@99999"], 3, /no version 99999/],
    ["a position before the first", ["state", "parent@-999"], 3, /no version -999 \(999 before the head\)/],
    ["rows that were never built", ["rebuild", "usage", "--compare"], 1, /threadfold rebuild usage/],
    ["a folder called as a thread", ["verify", "nofile"], 3, /There is no thread "nofile"/],
    ["a bad position", ["state", "parent@?"], 2, /is no position/],
    ["a prefix of several threads", ["state", "par"], 2, /fits several threads: parable, parent/],
    ["a bad path", ["state", "parent", "--path", "$.["], 2, /is no JSONPath/],
    ["an unknown model", ["run", "--model", "magic", "hi"], 2, /"magic" names no model/],
    ["a model without a key", ["run", "--model", "openai:x", "hi"], 2, /OPENAI_API_KEY/],
    ["an unknown store", ["threads", "--store", "redis://x"], 2, /No store opens/],
    ["nothing to verify", ["verify"], 2, /Nothing to verify/],
    [
      "a thread and all to verify",
      ["verify", "parent", "--all"],
      2,
      /Give one of the two|A thread or file, and --all/,
    ],
    ["an empty prompt", ["run", "-"], 2, /prompt is empty/],
    ["an agent file that is not there", ["run", "--agent", "no.ts", "hi"], 3, /There is no file/],
  ])("%s", async (_what, args, code, message) => {
    const cwd = shared;
    const result = await cli(args, { cwd });
    expect(result).toMatchObject({ code, stdout: "" });
    expect(result.stderr).toMatch(message);
    const lines = result.stderr.trimEnd().split("\n");
    expect(lines[0]).toMatch(/^error: /);
    expect(lines.length).toBeLessThanOrEqual(3);
    expect(result.stderr).not.toContain("    at ");
  });

  test("--debug shows the stack", async () => {
    const { stderr } = await cli(["events", "nobody", "--debug"], { cwd: await emptyFolder() });
    expect(stderr).toContain("UnknownThreadError");
    expect(stderr).toContain("    at ");
  });

  test("a file that is no store, and a folder that cannot be written", async () => {
    const cwd = await emptyFolder();
    await writeFile(
      join(cwd, "foreign.db"),
      "not a database, but long enough to have a header of some kind".repeat(20),
    );
    const foreign = await cli(["threads", "--store", "foreign.db"], { cwd });
    expect(foreign.code).toBe(1);
    expect(foreign.stderr).toMatch(/^error: .*foreign\.db/);
    await mkdir(join(cwd, "blocked"));
    await writeFile(join(cwd, "blocked", "file"), "");
    await chmod(join(cwd, "blocked"), 0o500);
    const blocked = await cli(["threads", "--store", "blocked/file/threads.db"], { cwd });
    expect(blocked.code).toBe(1);
    expect(blocked.stderr).toMatch(/^error: /);
  });

  test("a config file with a wrong key names the key", async () => {
    const cwd = await emptyFolder();
    await writeFile(join(cwd, "threadfold.config.ts"), "export default { model: 3 as number };\n");
    await mkdir(join(cwd, "deep", "er"), { recursive: true });
    const result = await cli(["threads"], { cwd: join(cwd, "deep", "er") });
    expect(result.code).toBe(2);
    expect(result.stderr).toMatch(/threadfold\.config\.ts cannot be used\.\n.*"model": .*expected string/);
    const named = await cli(["config", "--config", "missing.json"], { cwd });
    expect(named.code).toBe(2);
  });
});

test("doctor looks at everything and ends with 0 when all is well", async () => {
  const { code, stdout } = await cli(["doctor", "--json"], { cwd: await emptyFolder() });
  expect(code).toBe(0);
  const { ok, findings } = JSON.parse(stdout);
  expect(ok).toBe(true);
  expect(findings.map(({ check }: { check: string }) => check)).toEqual([
    "node",
    "config",
    "model",
    "store",
    "sandbox",
    "providers",
  ]);
});

import { spawn } from "node:child_process";
import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test, vi } from "vitest";
import { type CliOptions, cli, cliBundle } from "./run-cli.ts";
import { reportId, sampleStore } from "./sample-store.ts";

vi.setConfig({ testTimeout: 120_000 });

let folder: string;
let remove: () => Promise<void>;
beforeAll(async () => ({ folder, remove } = await sampleStore()));
afterAll(() => remove());

const call = (args: readonly string[], options: Partial<CliOptions> = {}) =>
  cli(args, { cwd: folder, ...options });
const json = async (args: readonly string[]) => JSON.parse((await call([...args, "--json"])).stdout);

describe("threads", () => {
  test("lists them as tab-separated lines in a pipe, the latest first", async () => {
    const { code, stdout, stderr } = await call(["threads"]);
    expect({ code, stderr }).toEqual({ code: 0, stderr: "" });
    const rows = stdout
      .trimEnd()
      .split("\n")
      .map((line) => line.split("\t"));
    expect(rows.map(([id, title, status, events]) => [id, title, status, events])).toEqual([
      ["child", "", "idle", "5"],
      ["parent", "A title", "idle", "15"],
      [reportId, "Tea market report", "idle", "46"],
    ]);
  });

  test("one JSON document, and one record a line, each with a schemaVersion", async () => {
    const document = await json(["ls", "--search", "TEA"]);
    expect(document).toMatchObject({ schemaVersion: 1, threads: [{ threadId: reportId, runs: 2 }] });
    const { stdout } = await call(["threads", "--ndjson", "--limit", "2", "--sort", "events"]);
    const records = stdout
      .trimEnd()
      .split("\n")
      .map((line) => JSON.parse(line));
    expect(records).toMatchObject([
      { schemaVersion: 1, threadId: reportId },
      { schemaVersion: 1, threadId: "parent" },
    ]);
  });

  test("filters by status and time", async () => {
    expect((await json(["threads", "--status", "failed"])).threads).toEqual([]);
    const { threads } = await json(["threads", "--since", "2026-03-01"]);
    expect(threads.map(({ threadId }: { threadId: string }) => threadId)).not.toContain(reportId);
  });
});

describe("events", () => {
  test("shows version, time, type, emitter and what happened", async () => {
    const { stdout } = await call(["events", "child"]);
    const lines = stdout
      .trimEnd()
      .split("\n")
      .map((line) => line.split("\t"));
    expect(lines.map(([version, , type, by]) => `${version} ${type} ${by}`)).toEqual([
      "1 ThreadForked runtime",
      "2 RunStarted user",
      "3 MessagesAdded user",
      "4 ModelResponded user",
      "5 RunCompleted runtime",
    ]);
    expect(lines[2]?.at(-1)).toBe("human: Frage c1 你好");
  });

  test.each<[string[], number[]]>([
    [
      ["--type", "RunStarted,RunCompleted"],
      [2, 5, 7, 10, 12, 15],
    ],
    [
      ["--from", "3", "--to", "5"],
      [3, 4, 5],
    ],
    [["--from=-2"], [13, 14, 15]],
    [
      ["--to", "run:r1"],
      [1, 2, 3, 4, 5],
    ],
    [
      ["--run", "r2"],
      [7, 8, 9, 10],
    ],
    [["--grep", "FRAGE R3"], [13]],
    [
      ["--reverse", "--limit", "2"],
      [15, 14],
    ],
  ])("%j", async (flags, versions) => {
    const { events } = await json(["events", "parent", ...flags]);
    expect(events.map(({ version }: { version: number }) => version)).toEqual(versions);
  });

  test("--path prints what stands there, in events that have it", async () => {
    const { stdout } = await call(["events", "parent", "--path", "$.data.messages[0].content"]);
    expect(stdout).toBe('"Frage r1 你好"\n"Frage r2 你好"\n"Frage r3 你好"\n');
  });

  test("--follow shows what another process records, and --limit ends it", async () => {
    const { openStore } = await import("../../../events/open-store.ts");
    const { appendDrafts } = await import("../../projections/append-drafts.ts");
    const { ThreadCreated } = await import("../../../events/thread.ts");
    const { TitleSet } = await import("../../../events/title.ts");
    const store = await openStore(`sqlite:${join(folder, ".threadfold", "threads.db")}`);
    await appendDrafts(store.log, "followed", [ThreadCreated({})]);
    let appended = false;
    const { code, stdout } = await call(["events", "followed", "-f", "--limit", "3", "--ndjson"], {
      onStdout: () => {
        if (appended) return;
        appended = true;
        const titles = ["one", "two"].map((title) => TitleSet({ title, origin: "user" }));
        void appendDrafts(store.log, "followed", titles);
      },
    });
    await store.log.erase("thread-followed");
    await store.close();
    expect(code).toBe(0);
    const seen = stdout
      .trimEnd()
      .split("\n")
      .map((line) => JSON.parse(line).data.title);
    expect(seen).toEqual([undefined, "one", "two"]);
  });
});

describe("state", () => {
  test("at a version, as pretty JSON; --path gives one value a line", async () => {
    const { stdout } = await call(["state", "parent@run:r1"]);
    const state = JSON.parse(stdout);
    expect(state.messages).toHaveLength(2);
    expect(stdout).toContain('\n  "messages": [');
    expect((await call(["state", "parent", "--path", "$.messages[*].content"])).stdout).toBe(
      '"Frage r1 你好"\n"answer"\n"Frage r3 你好"\n"answer"\n',
    );
    expect(await json(["state", "child@0"])).toMatchObject({
      schemaVersion: 1,
      threadId: "child",
      version: 0,
    });
  });

  test("nothing at the path ends with 3", async () => {
    const { code, stdout, stderr } = await call(["state", "parent", "--path", "nobody"]);
    expect({ code, stdout }).toEqual({ code: 3, stdout: "" });
    expect(stderr).toContain("Nothing stands at nobody in parent@15.");
  });
});

describe("diff", () => {
  test("pretty shows only what changed", async () => {
    const { stdout } = await call(["diff", "parent@2", "@6"]);
    expect(stdout).toContain('"content": "Frage r1 你好"');
    expect(stdout).toContain('+  title: "A title"');
    expect(stdout).not.toContain("artifacts");
  });

  test("names and JSON Patch, within a thread and across threads", async () => {
    expect((await call(["diff", "parent@2", "@6", "--format", "names"])).stdout).toBe("messages\ntitle\n");
    const patch = JSON.parse((await call(["diff", "child", "parent@5", "--format", "patch"])).stdout);
    expect(patch).toMatchObject([{ op: "remove" }, { op: "remove" }]);
    expect(await json(["diff", "child@1", "parent@5"])).toMatchObject({
      from: "child@1",
      fields: [],
      patch: [],
    });
  });

  test("--exit-code ends with 4 when the two differ, with 0 when not", async () => {
    const ofTitle = ["diff", "parent@2", "@6", "--path", "title"];
    expect(await json(ofTitle)).toMatchObject({ fields: [expect.stringContaining("title")] });
    expect((await call([...ofTitle, "--exit-code"])).code).toBe(4);
    const elsewhere = ["diff", "parent@2", "@6", "--path", "$.no_such_field", "--exit-code"];
    expect((await call(elsewhere)).code).toBe(0);
    expect((await call(["diff", "parent@2", "@6", "--path", "$.["])).code).toBe(2);
    expect((await call(["diff", "parent@2", "@6", "--exit-code"])).code).toBe(4);
    expect((await call(["diff", "parent@2", "@2", "--exit-code"])).code).toBe(0);
    expect((await call(["diff", "parent@2", "@6"])).code).toBe(0);
  });
});

describe("replay and verify", () => {
  test("a sound thread refolds and verifies", async () => {
    const replayed = await call(["replay", "parent"]);
    expect(replayed.stdout).toMatch(
      /^parent@15: refolded 11 events, state hash [0-9a-f]{12} ok \(2 run ends compared\)\n$/,
    );
    expect(await json(["replay", "parent", "--to", "5"])).toMatchObject({
      threads: [{ version: 5, checked: 1 }],
    });
    const verified = await call(["verify", "--all"]);
    expect(verified.code).toBe(0);
    expect(verified.stdout.trimEnd().split("\n")).toHaveLength(3);
    expect(verified.stderr).toContain("3 threads verified, 0 with problems.");
    expect(await json(["verify", reportId])).toMatchObject({
      ok: true,
      threads: [{ version: 46, problems: [] }],
    });
  });

  test("an exported file is replayed and verified without a store; damage in it ends with 4", async () => {
    const { stdout } = await call(["export", "child"]);
    const file = join(folder, "child.ndjson");
    await writeFile(file, stdout);
    expect((await call(["verify", file])).stdout).toContain("child@5");
    expect((await call(["replay", file])).stdout).toContain("child@5: refolded");
    await writeFile(file, stdout.replace("Frage r1", "Frage r0"));
    const broken = await call(["verify", file]);
    expect(broken.code).toBe(4);
    expect(broken.stderr).toContain("thread-parent@3 (line 4)");
    for (const damaged of [
      stdout.split("\n").slice(0, 5).join("\n"),
      stdout.replace('"version":3', '"version":'),
    ]) {
      await writeFile(file, damaged);
      expect((await call(["verify", file])).code).toBe(4);
      expect((await call(["replay", file])).code).toBe(4);
    }
  });
});

describe("machine and config", () => {
  test("the lifecycle as text, Mermaid and JSON", async () => {
    expect((await call(["machine"])).stdout).toMatch(/^idle\n {2}→ beforeAgent/);
    expect((await call(["machine", "--format", "mermaid"])).stdout).toMatch(
      /^stateDiagram-v2\n {2}\[\*\] --> idle\n/,
    );
    expect(await json(["machine"])).toMatchObject({ schemaVersion: 1, initial: "idle" });
  });

  test("settings come from flags, then the environment, then the file, then defaults, and say so", async () => {
    await writeFile(
      join(folder, "threadfold.config.json"),
      JSON.stringify({ store: "other.db", model: "ollama:x" }),
    );
    const show = async (args: string[], env: Record<string, string> = {}) =>
      JSON.parse((await call(["config", "--json", ...args], { env })).stdout);
    expect(await show([])).toMatchObject({
      file: join(folder, "threadfold.config.json"),
      store: { value: `sqlite:${join(folder, "other.db")}`, from: "config file" },
      model: { value: "ollama:x", from: "config file" },
      agent: { value: null, from: "default" },
    });
    expect(await show([], { THREADFOLD_STORE: "memory:", THREADFOLD_MODEL: "openai:y" })).toMatchObject({
      store: { value: "memory:", from: "environment" },
      model: { value: "openai:y", from: "environment" },
    });
    expect(await show(["--store", "flag.db"], { THREADFOLD_STORE: "memory:" })).toMatchObject({
      store: { value: "flag.db", from: "flag" },
    });
    const { rm } = await import("node:fs/promises");
    await rm(join(folder, "threadfold.config.json"));
  });
});

describe("colours and closed pipes", () => {
  test.each<[string[], Record<string, string>, boolean]>([
    [[], {}, false],
    [["--color", "always"], {}, true],
    [[], { FORCE_COLOR: "1" }, true],
    [[], { FORCE_COLOR: "1", NO_COLOR: "1" }, true],
    [["--color", "never"], { FORCE_COLOR: "1" }, false],
    [["--color", "auto"], { NO_COLOR: "1" }, false],
  ])("%j with %j: colours %s", async (flags, env, colored) => {
    const { stdout } = await call(["verify", "parent", ...flags], { env });
    // biome-ignore lint/suspicious/noControlCharactersInRegex: colours are control characters
    expect(/\u001b\[/.test(stdout)).toBe(colored);
  });

  test("a reader that goes away is no error", async () => {
    const { env, execPath } = process;
    const command = `set -o pipefail; "$NODE" "$MAIN" events ${reportId} --ndjson | head -n 1`;
    const child = spawn("bash", ["-c", command], {
      cwd: folder,
      env: { ...env, NODE: execPath, MAIN: await cliBundle() },
    });
    let stderr = "";
    child.stderr.on("data", (chunk) => {
      stderr += chunk;
    });
    const code = await new Promise((resolve) => child.once("close", resolve));
    expect({ code, stderr }).toEqual({ code: 0, stderr: "" });
  });
});

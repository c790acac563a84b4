import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { afterAll, beforeAll, describe, expect, test, vi } from "vitest";
import { type CliOptions, cli } from "./run-cli.ts";
import { sampleStore } from "./sample-store.ts";

const root = fileURLToPath(new URL("../../..", import.meta.url));
const planFile = join(root, "test/histories/0.1.0/plan-mode.ndjson");

// Each call is a process of its own.
vi.setConfig({ testTimeout: 120_000 });

let folder: string;
let remove: () => Promise<void>;
beforeAll(async () => {
  ({ folder, remove } = await sampleStore());
  // Each test works on a thread of its own that the planner made.
  await call(["run", "--thread", "sum", "--model", "builtin:planner", "What is 2 + 3?"]);
}, 120_000);
afterAll(() => remove());

const call = (args: readonly string[], options: Partial<CliOptions> = {}) =>
  cli(args, { cwd: folder, ...options });
const json = async (args: readonly string[]) => JSON.parse((await call([...args, "--json"])).stdout);

describe("blame and watch-path", () => {
  test("name the events that changed a field, and its value at each version", async () => {
    const { changes } = await json(["blame", "sum", "--path", "title"]);
    expect(changes).toMatchObject([{ type: "TitleSet", by: "middleware:title", before: [] }]);
    const { code, stdout } = await call(["watch-path", "sum", "title"]);
    expect(code).toBe(0);
    expect(stdout.trim().split("\n").at(-1)).toContain(JSON.stringify(changes[0].after[0]));
    const every = await json(["watch-path", "sum", "title", "--every"]);
    const { version } = await json(["state", "sum"]);
    expect(every.versions).toHaveLength(version);
    expect((await json(["blame", "sum", "--path", "messages", "--last"])).changes).toHaveLength(1);
  });

  test("nothing that changed ends with 3, no JSONPath with 2", async () => {
    expect(await call(["blame", "sum", "--path", "goal"])).toMatchObject({ code: 3 });
    expect(await call(["watch-path", "sum", "$.["])).toMatchObject({ code: 2 });
  });
});

describe("seen", () => {
  test("shows what the model was given, with the origin of each message, and checks the hash", async () => {
    const { code, stdout } = await call(["seen", "sum"]);
    expect(code).toBe(0);
    expect(stdout).toContain("hash ok");
    expect(stdout).toMatch(/-- sum@\d+ MessagesReplaced, by middleware:thread-data/);
    const { request } = await json(["seen", "sum"]);
    expect(request.hashMatches).toBe(true);
    expect((await call(["seen", "sum", "--call", request.callId])).stdout).toBe(stdout);
    expect((await call(["seen", "sum", "--all"])).stdout).toContain(request.callId);
    expect(await call(["seen", "sum", "--call", "none"])).toMatchObject({ code: 3 });
  });
});

describe("replay --mode rerun", () => {
  test("runs the hooks of a thread again and finds the same events", async () => {
    const { code, stdout, stderr } = await call(["replay", "sum", "--mode", "rerun"]);
    expect(stderr).toBe("");
    expect(stdout).toMatch(/^sum: ran 1 run again, the same \d+ events ok\n$/);
    expect(code).toBe(0);
  });

  test("a changed agent ends with 4 and names thread, version and field", async () => {
    await writeFile(join(folder, "changed.mjs"), `export default { name: "threadfold", middleware: [] };`);
    const result = await call(["replay", "sum", "--mode", "rerun", "--agent", "changed.mjs"]);
    expect(result.code).toBe(4);
    expect(result.stdout).toMatch(/diverged at sum@\d+ \(run .*\): /);
    const { threads } = await json(["replay", "sum", "--mode", "rerun", "--agent", "changed.mjs"]);
    expect(threads[0].divergence).toMatchObject({ threadId: "sum", path: expect.any(String) });
  });

  test("an export is folded as well", async () => {
    const { code, stdout } = await call(["replay", planFile]);
    expect(stdout).toMatch(/^plan@30: refolded 30 events/);
    expect(code).toBe(0);
    expect(await call(["replay", "sum", "--run", "x"])).toMatchObject({ code: 2 });
  });
});

describe("runs of the built-in agent", () => {
  test("verify compares the states at their ends, and versions show the same after a rewind to before them", async () => {
    await call(["run", "--thread", "turned", "--model", "builtin:planner", "What is 3 + 4?"]);
    expect(await json(["verify", "turned"])).toMatchObject({
      threads: [{ stateHashes: 1, uncheckedStates: 0, problems: [] }],
    });
    const { version, state } = await json(["state", "turned"]);
    expect(state).toHaveProperty("token_usage");
    await call(["rewind", "turned@3"]);
    expect(await json(["state", `turned@${version}`])).toMatchObject({ version, state });
    expect(await json(["replay", `turned@${version}`])).toMatchObject({
      threads: [{ checked: 1, unchecked: 0 }],
    });
  });

  test("a version shows the same while its run is open and when it ended", async () => {
    const running = call([
      ...["run", "--thread", "open", "--model", "builtin:planner"],
      "run `until [ -e go ]; do sleep 0.1; done`",
    ]);
    const version = 10;
    await vi.waitUntil(async () => (await call(["state", `open@${version}`])).code === 0, 30_000);
    const during = await json(["state", `open@${version}`]);
    expect((await json(["threads"])).threads).toContainEqual(
      expect.objectContaining({ threadId: "open", status: "running" }),
    );
    await writeFile(join(folder, ".threadfold/threads/open/user-data/workspace/go"), "");
    expect(await running).toMatchObject({ code: 0 });
    expect(during.state).toHaveProperty("token_usage");
    expect(await json(["state", `open@${version}`])).toEqual(during);
  });
});

describe("what-if, regenerate and heads", () => {
  test("what-if does the run otherwise in a fork", async () => {
    const { before, after } = await json(["what-if", "sum@0", "--input", "What is 4 + 5?", "--as", "other"]);
    expect(before).toMatchObject({ threadId: "sum", status: "completed" });
    expect(after).toMatchObject({ threadId: "other", status: "completed" });
    expect(after.answer).toContain("9");
    const { stdout } = await call(["what-if", "sum@0", "--runs", "1"]);
    expect(stdout).toContain("fields that differ");
    expect(await call(["what-if", "sum"])).toMatchObject({ code: 3 });
  });

  test("branches --compare tells what two branches did since they parted", async () => {
    const compared = await json(["branches", "parent", "--compare", "child"]);
    expect(compared.ancestor).toEqual({ threadId: "parent", version: 5 });
    expect(compared.right.types).toMatchObject({ ThreadForked: 1 });
    expect((await call(["branches", "parent", "--compare", "child"])).stdout).toContain(
      "in common up to parent@5",
    );
  });

  test("regenerate goes back and asks again; --edit asks something else; --fork leaves the thread alone", async () => {
    await call(["run", "--thread", "again", "--model", "builtin:planner", "What is 1 + 1?"]);
    const fork = await call(["regenerate", "again", "--edit", "What is 20 + 1?", "--fork", "again-2"]);
    expect(fork).toMatchObject({ code: 0 });
    expect(fork.stdout).toContain("21");
    const back = await call(["regenerate", "again"]);
    expect(back.code).toBe(0);
    expect(back.stdout).toContain("2");
    const tree = await json(["branches", "again"]);
    expect(tree.tree.branches).toHaveLength(2);
    expect(await call(["regenerate", "again", "--message", "none"])).toMatchObject({ code: 3 });
  });

  test("heads names a version, lists names, and takes one away", async () => {
    expect((await call(["heads", "sum@3", "--set", "good"])).stdout).toBe("good\tsum@3\n");
    expect((await json(["state", "sum@good"])).version).toBe(3);
    expect(await call(["heads", "sum", "--set", "head"])).toMatchObject({ code: 2 });
    expect((await json(["heads", "sum", "--remove", "good"])).heads).toEqual([]);
  });
});

import { existsSync } from "node:fs";
import { readdir, readFile, stat, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, test, vi } from "vitest";
import { type CliOptions, cli } from "./run-cli.ts";
import { sampleStore } from "./sample-store.ts";

// Each test starts several processes, one after the other.
vi.setConfig({ testTimeout: 120_000 });

let folder: string;
let remove: () => Promise<void>;
beforeEach(async () => ({ folder, remove } = await sampleStore()));
afterEach(() => remove());

const call = (args: readonly string[], options: Partial<CliOptions> = {}) =>
  cli(args, { cwd: folder, ...options });
const json = async (args: readonly string[]) => JSON.parse((await call([...args, "--json"])).stdout);

describe("trace", () => {
  test("shows runs with what they led to, and their cost", async () => {
    const { code, stdout } = await call(["trace", "child"]);
    expect(code).toBe(0);
    expect(stdout).toMatch(/^run c1 {2}@2 {2}ok/m);
    await writeFile(join(folder, "bad.json"), "[]");
    expect(await call(["trace", "child", "--prices", "bad.json"])).toMatchObject({ code: 2 });
    const { trace } = await json(["trace", "parent", "--run", "r2"]);
    expect(trace).toMatchObject([{ kind: "run", id: "r2", status: "ok" }]);
  });
});

describe("branches", () => {
  test("shows the tree of rewinds and forks, and the common ancestor of two positions", async () => {
    const { stdout } = await call(["branches", "parent"]);
    expect(stdout).toContain("@1-10");
    expect(stdout).toContain("child forked from parent@5");
    expect((await call(["branches", "child", "--ancestor", "parent"])).stdout).toBe("parent@5\n");
  });
});

describe("projections and rebuild", () => {
  test("are built, listed, compared and tried without writing", async () => {
    expect((await json(["rebuild", "thread-list", "--dry-run"])).projections).toMatchObject([
      { name: "thread-list", dryRun: true, rows: 3 },
    ]);
    const before = await json(["projections"]);
    expect(before.projections[0]).toMatchObject({ name: "thread-list", liveVersion: null });
    expect((await call(["projections", "--catch-up"])).stdout).toContain("thread-list\t1\t66\t0\t0");
    expect((await call(["rebuild", "thread-list", "--compare"])).stdout).toBe("thread-list: identical\n");
    expect((await call(["rebuild", "--all"])).stdout).toContain("thread-list@1: 3 rows from 66 events");
  });

  test("of one's own are taken from a file", async () => {
    await writeFile(
      join(folder, "own.mjs"),
      `export const own = { name: "own", version: 1, types: ["RunStarted"], init: undefined, keep: "disk",
        handlerFor: (type) => type === "RunStarted" ? (rows, event) => rows.put(event.data.runId, 1) : undefined,
        orderOf: (row, key) => key, searchTextOf: () => "" };`,
    );
    expect((await call(["rebuild", "own", "--file", "own.mjs"])).stdout).toContain("own@1: ");
    const missing = await call(["rebuild", "nothing"]);
    expect(missing).toMatchObject({ code: 2 });
    expect(missing.stderr).toContain("thread-list");
  });
});

describe("erase", () => {
  test("asks first, refuses plain text, and deletes a thread when told so", async () => {
    expect(await call(["erase", "child"])).toMatchObject({ code: 2 });
    const plain = await call(["erase", "child", "--yes"]);
    expect(plain.code).toBe(5);
    expect(plain.stderr).toContain("plain text");
    expect(await call(["erase", "parent", "--delete", "--yes"])).toMatchObject({ code: 5 });
    expect(await call(["erase", "child", "--delete", "--yes"])).toMatchObject({
      code: 0,
      stdout: "deleted child\n",
    });
    expect(await call(["events", "child"])).toMatchObject({ code: 3 });
  });

  test("leaves no content of an encrypted thread in the store", async () => {
    await writeFile(
      join(folder, "threadfold.config.json"),
      JSON.stringify({ store: "sqlite:secret/t.db", encrypt: true }),
    );
    const run = await call(["run", "count the words in: Vermilion Chinchilla", "--thread", "t"]);
    expect(run.code).toBe(0);
    await call(["projections", "--catch-up"]);
    expect((await call(["state", "t"])).stdout).toContain("Chinchilla");
    expect((await call(["fork", "t@head", "--as", "kept"])).code).toBe(0);
    expect((await call(["run", "calculate 5 + 5", "--thread", "kept"])).code).toBe(0);
    expect((await call(["erase", "t", "--yes", "--keep-forks", "--reason", "asked for"])).code).toBe(0);
    const fork = await call(["verify", "kept"]);
    expect(fork.code).toBe(0);
    expect(fork.stdout).toMatch(/ok .* 2 not compared: content before them was erased, .*erased\)/);
    const files = await readdir(join(folder, "secret"), { recursive: true, withFileTypes: true });
    for (const file of files.filter((entry) => entry.isFile())) {
      expect((await readFile(join(file.parentPath, file.name))).includes("Chinchilla"), file.name).toBe(
        false,
      );
    }
    expect((await call(["verify", "t", "--chain"])).code).toBe(0);
    const verified = await call(["verify", "t"]);
    expect(verified.code).toBe(0);
    expect(verified.stdout).toContain("1 not compared: content before them was erased");
    expect(await call(["replay", "t"])).toMatchObject({ code: 0 });
    const rerun = await call(["replay", "t", "--mode", "rerun"]);
    expect(rerun.code).toBe(5);
    expect(rerun.stderr).toContain("so its runs cannot be done again");
    expect((await call(["events", "t"])).stdout).toContain("ThreadErased");
  });
});

describe("redact", () => {
  test("shows what it would take out, records it, and says what it cannot do in plain text", async () => {
    const found = await json(["redact", "parent", "--rule", "title", "--dry-run"]);
    expect(found).toMatchObject({
      version: null,
      effect: "hidden",
      matches: [{ type: "TitleSet", paths: ["title"] }],
    });
    const { changes } = await json(["blame", "parent", "--path", "title"]);
    const title = String(changes[0].after[0]);
    expect((await call(["events", "parent", "--json"])).stdout).toContain(title);
    const done = await call(["redact", "parent", "--rule", "title", "--yes", "--reason", "private"]);
    expect(done.code).toBe(0);
    expect(done.stderr).toContain("still hold it");
    // What is shown afterwards does not hold it.
    for (const args of [
      ["events", "parent", "--json"],
      ["state", "parent"],
      ["blame", "parent", "--path", "title"],
      ["trace", "parent", "--json"],
      ["watch-path", "parent", "title"],
      ["threads", "--json"],
      ["export", "parent", "--format", "csv"],
      ["export", "parent", "--by", "user,middleware"],
    ]) {
      expect([args, (await call(args)).stdout]).toEqual([args, expect.not.stringContaining(title)]);
    }
    expect(await call(["redact", "parent", "--rule", "/no such text/", "--yes"])).toMatchObject({ code: 3 });
    const inherited = await call(["redact", "child", "--rule", "/no such text/", "--yes"]);
    expect(inherited.stderr).toContain("threadfold redact parent --rule");
    expect(await call(["redact", "parent", "--rule", "/(/", "--yes"])).toMatchObject({ code: 2 });
  });
});

describe("archive", () => {
  test("writes a thread to a file and takes it back", async () => {
    const { code, stdout } = await call(["archive", "child", "--reason", "old"]);
    expect({ code, stdout }).toEqual({ code: 0, stdout: "child.ndjson.gz\n" });
    expect(existsSync(join(folder, "child.ndjson.gz"))).toBe(true);
    expect((await call(["archive", "--restore", "child.ndjson.gz"])).stdout).toBe("child@7\n");
    expect(await call(["archive", "--restore", "missing.gz"])).toMatchObject({ code: 3 });
    expect(await call(["archive"])).toMatchObject({ code: 2 });
  });
});

describe("sign", () => {
  test("signs a head, which holds until somebody changes the log", async () => {
    await call(["sign", "--new-key", "audit"]);
    expect((await stat(join(folder, "audit.key"))).mode & 0o777).toBe(0o600);
    const again = await call(["sign", "--new-key", "audit"]);
    expect(again.code).toBe(5);
    expect(again.stderr).toContain("audit.key is there already");
    await call(["sign", "parent@4", "--key", "audit.key", "-o", "head.json"]);
    const verify = ["sign", "--verify", "head.json", "--key", "audit.pub"];
    expect(await call(verify)).toMatchObject({ code: 0, stdout: "thread-parent@4: holds\n" });
    // Where only the export is: the events are those of the file, and no store is made.
    await call(["export", "parent", "-o", "parent.ndjson"]);
    await call(["export", "child", "-o", "child.ndjson"]);
    const elsewhere = [...verify, "--store", "sqlite:none.db"];
    expect(await call([...elsewhere, "parent.ndjson"])).toMatchObject({ code: 0 });
    expect(await call([...verify, "parent"])).toMatchObject({ code: 2 });
    const cut = (await readFile(join(folder, "parent.ndjson"), "utf8")).split("\n").slice(0, 3).join("\n");
    await writeFile(join(folder, "cut.ndjson"), `${cut}\n`);
    expect((await call([...elsewhere, "cut.ndjson"])).code).toBe(4);
    expect(existsSync(join(folder, "none.db"))).toBe(false);
    const head = JSON.parse(await readFile(join(folder, "head.json"), "utf8"));
    await writeFile(join(folder, "head.json"), JSON.stringify({ ...head, version: 3 }));
    expect(await call([...verify, "--offline"])).toMatchObject({ code: 4 });
    expect(await call(["sign", "parent"])).toMatchObject({ code: 2 });
  });
});

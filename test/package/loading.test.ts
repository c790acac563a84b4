import { spawn } from "node:child_process";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath, pathToFileURL } from "node:url";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { buildPackage } from "../../bench/build.ts";
import { createAgent } from "../../index.ts";

/*
 * What a process loads decides how long it takes to start. These tests name the packages, which is the same on every
 * machine, and no times.
 */
const recorder = new URL("record-modules.js", import.meta.url).href;
// In `node_modules`, where the built files find their packages.
const dist = new URL(`../../node_modules/.cache/threadfold-package-${process.pid}/`, import.meta.url);
let folder: string;
let store: string;

beforeAll(async () => {
  await buildPackage(dist);
  folder = await mkdtemp(join(tmpdir(), "threadfold-loading-"));
  store = `sqlite:${join(folder, "threads.db")}`;
  const agent = createAgent({ model: "builtin:planner", store });
  await agent.thread("demo").run("calculate 1 + 1").result;
  await agent.close();
}, 60_000);
afterAll(() => Promise.all([fileURLToPath(dist), folder].map((path) => rm(path, { recursive: true }))));

interface Started {
  readonly output: string;
  /** Names of the packages of which a file was loaded. */
  readonly packages: readonly string[];
  /** Files of this package that were loaded. */
  readonly own: readonly string[];
}

function start(args: readonly string[]): Promise<Started> {
  const child = spawn(process.execPath, ["--import", recorder, ...args], { cwd: folder });
  const text = { stdout: "", stderr: "" };
  for (const name of ["stdout", "stderr"] as const) {
    child[name].setEncoding("utf8").on("data", (piece: string) => {
      text[name] += piece;
    });
  }
  return new Promise((resolve, reject) => {
    child.on("error", reject);
    child.on("close", (code) => {
      if (code !== 0) return reject(new Error(`It ended with ${code}: ${text.stderr}`));
      const urls = [...text.stderr.matchAll(/^loaded (.*)$/gm)].map(([, url = ""]) => url);
      const own = urls.filter((url) => url.startsWith(dist.href)).map((url) => url.slice(dist.href.length));
      const names = urls
        .filter((url) => !url.startsWith(dist.href))
        .flatMap((url) => /.*\/node_modules\/((?:@[^/]+\/)?[^/]+)/.exec(url)?.[1] ?? []);
      resolve({ output: text.stdout, own, packages: [...new Set(names)].sort() });
    });
  });
}

const script = (code: string) => start(["--input-type=module", "-e", code]);
const entry = JSON.stringify(new URL("index.js", dist).href);
const command = (...args: string[]) =>
  start([fileURLToPath(new URL("cli.js", dist)), "--store", store, ...args]);

describe("what the built package loads", () => {
  test("importing it loads zod and few files", async () => {
    const { packages, own } = await script(`await import(${entry});`);
    expect(packages).toEqual(["zod"]);
    expect(own).toHaveLength(2);
  });

  test("opening a store and reading a state loads the driver and zod, nothing else", async () => {
    const { packages, output } = await script(`
      import { createEventRegistry, createStateReader, createThreadReducer, openStore } from ${entry};
      const store = await openStore(${JSON.stringify(store)});
      const reader = createStateReader({ ...store, reducer: createThreadReducer(), registry: createEventRegistry() });
      const { messages } = await reader.stateAt("demo");
      const rows = await reader.history("demo", { limit: 10 });
      await reader.settled();
      await store.close();
      console.log(messages.length > 1 && rows.length > 0);`);
    expect(output.trim()).toBe("true");
    // Where Node has SQLite itself, there is no driver to load.
    expect(["zod", "@photostructure/sqlite", "node-gyp-build"]).toEqual(
      expect.arrayContaining([...packages]),
    );
  });

  test("making an agent loads no more, and running it LangChain", async () => {
    const made = await script(`
      import { createAgent, todosMiddleware } from ${entry};
      createAgent({ model: "builtin:planner", store: "memory:", middleware: [todosMiddleware()] });`);
    expect(made.packages).toEqual(["zod"]);
    const run = await script(`
      import { createAgent } from ${entry};
      const agent = createAgent({ model: "builtin:planner", store: "memory:" });
      const { status } = await agent.thread("t").run("calculate 1 + 1").result;
      await agent.close();
      console.log(status);`);
    expect(run.output.trim()).toBe("completed");
    expect(run.packages).toEqual(expect.arrayContaining(["@langchain/core", "xstate", "zod"]));
  });

  test("--help loads the parser of the command line only", async () => {
    const { packages, output } = await command("--help");
    expect(output).toContain("Usage: threadfold");
    expect(packages).toEqual(["@commander-js/extra-typings", "commander", "picocolors"]);
  });

  test("reading commands load no model, no server and no page", async () => {
    const heavy = /langchain|xstate|hono|react|prom-client|opentelemetry/;
    for (const args of [
      ["threads"],
      ["state", "demo@3"],
      ["events", "demo"],
      ["diff", "demo@2", "demo@head"],
    ]) {
      const { packages, output } = await command(...args);
      expect(output).not.toBe("");
      expect([args.join(" "), ...packages.filter((name) => heavy.test(name))]).toEqual([args.join(" ")]);
    }
  });
});

test("the record of modules sees both kinds", async () => {
  const main = JSON.stringify(pathToFileURL(fileURLToPath(import.meta.resolve("picocolors"))).href);
  const { packages } = await script(`await import(${main}); await import("node:fs");`);
  expect(packages).toEqual(["picocolors"]);
});

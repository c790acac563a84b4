import { execFileSync } from "node:child_process";
import { readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { describe, expect, test, vi } from "vitest";
import { commandTable } from "../../../apps/cli/command-table.ts";
import { cli, cliBundle, emptyFolder } from "./run-cli.ts";

vi.setConfig({ testTimeout: 120_000 });

/** Lists every ES module that a process loads. */
const listingHook = `
  import { appendFileSync } from "node:fs";
  export async function load(url, context, next) {
    appendFileSync(process.env.LOADED_MODULES, url + "\\n");
    return next(url, context);
  }`;

async function modulesOf(args: readonly string[]) {
  const cwd = await emptyFolder();
  const list = join(cwd, "loaded.txt");
  const register = join(cwd, "register.mjs");
  await writeFile(join(cwd, "hook.mjs"), listingHook);
  await writeFile(
    register,
    `import { register } from "node:module"; register("./hook.mjs", import.meta.url);`,
  );
  const result = await cli(args, { cwd, node: ["--import", register], env: { LOADED_MODULES: list } });
  return { result, modules: (await readFile(list, "utf8")).trim().split("\n") };
}

describe("--help", () => {
  test("lists every command, loads no command and none of the heavy packages", async () => {
    const { result, modules } = await modulesOf(["--help"]);
    expect(result).toMatchObject({ code: 0, stderr: "" });
    for (const { name, summary } of commandTable)
      expect(result.stdout).toMatch(new RegExp(`${name}.*${summary}`));
    const heavy = modules.filter((url) =>
      /langchain|zod|hono|xstate|sqlite|jsondiffpatch|clack|commands/.test(url),
    );
    expect(heavy).toEqual([]);
    expect(modules.filter((url) => url.includes("commander")).length).toBeGreaterThan(0);
  });

  test("of one command loads that command and still no model, server or schema", async () => {
    const { result, modules } = await modulesOf(["run", "--help"]);
    expect(result.stdout).toContain("--approve <how>");
    expect(result.stdout).toContain("--store <url>");
    expect(modules.filter((url) => /langchain|zod|hono|xstate|sqlite/.test(url))).toEqual([]);
  });

  test("without arguments is shown, too; `help <command>` is the same as `<command> --help`", async () => {
    const cwd = await emptyFolder();
    expect(await cli([], { cwd })).toMatchObject({
      code: 0,
      stdout: expect.stringContaining("Usage: threadfold"),
    });
    const [one, other] = [await cli(["help", "fork"], { cwd }), await cli(["fork", "--help"], { cwd })];
    expect(one.stdout).toBe(other.stdout);
  });

  test("takes little more CPU than an empty process", async () => {
    const main = await cliBundle();
    const cpuMs = (args: readonly string[]) => {
      const report =
        "process.on('exit', () => { const { user, system } = process.cpuUsage(); process.stderr.write('CPU ' + (user + system) / 1000 + '\\n'); });";
      const hook = `data:text/javascript,${encodeURIComponent(report)}`;
      const runs = Array.from({ length: 5 }, () => {
        const output = execFileSync(
          "bash",
          ["-c", '"$@" 2>&1 >/dev/null', "bash", process.execPath, "--import", hook, ...args],
          { encoding: "utf8" },
        );
        return Number(/CPU ([\d.]+)/.exec(output)?.[1]);
      });
      return Math.min(...runs);
    };
    expect(cpuMs([main, "--help"]) - cpuMs(["--eval", "0"])).toBeLessThan(150);
  });
});

test("--version is the package's", async () => {
  const main = new URL("../../../package.json", import.meta.url);
  const { version } = JSON.parse(await readFile(main, "utf8")) as { version: string };
  const source = new URL("../../../apps/cli/main.ts", import.meta.url).pathname;
  const shown = execFileSync(
    process.execPath,
    ["--import", import.meta.resolve("tsx"), source, "--version"],
    { encoding: "utf8" },
  );
  expect(shown).toBe(`${version}\n`);
});

import { execFile } from "node:child_process";
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { afterAll, describe, expect, test } from "vitest";

const root = fileURLToPath(new URL("../..", import.meta.url));
const loader = join(root, "node_modules/tsx/dist/loader.mjs");
const pages = [
  "README.md",
  ...readdirSync(join(root, "docs"))
    .filter((name) => name.endsWith(".md"))
    .map((name) => `docs/${name}`),
];

interface Example {
  readonly page: string;
  readonly line: number;
  readonly language: string;
  readonly code: string;
}

/** Blocks that follow a line `<!-- run -->`. Blocks of one page run in order, in one folder. */
function examplesOf(page: string): Example[] {
  const text = readFileSync(join(root, page), "utf8");
  return [...text.matchAll(/<!-- run -->\n```(\w+)\n([\s\S]*?)```/g)].map((match) => ({
    page,
    line: text.slice(0, match.index).split("\n").length,
    language: match[1] ?? "",
    code: match[2] ?? "",
  }));
}

function run(command: string, args: string[], cwd: string): Promise<{ code: number; output: string }> {
  return new Promise((resolve) => {
    const env = { ...process.env, NO_COLOR: "1", THREADFOLD_ROOT: root };
    execFile(
      command,
      args,
      { cwd, env, timeout: 400_000, maxBuffer: 64 * 1024 * 1024 },
      (error, stdout, stderr) => {
        const code = error ? (typeof error.code === "number" ? error.code : 1) : 0;
        resolve({ code, output: `${stdout}\n${stderr}` });
      },
    );
  });
}

const folders: string[] = [];
afterAll(() => {
  for (const folder of folders) rmSync(folder, { recursive: true, force: true });
});

async function runBash({ code }: Example, folder: string): Promise<{ code: number; output: string }> {
  const cli = `threadfold() { "${process.execPath}" --import "${loader}" "${join(root, "apps/cli/main.ts")}" "$@"; }`;
  return run("bash", ["-c", `set -euo pipefail\n${cli}\n${code}`], folder);
}

async function runTypeScript({ code }: Example, folder: string): Promise<{ code: number; output: string }> {
  const inside = mkdtempSync(join(root, "node_modules/.docs-"));
  folders.push(inside);
  const file = join(inside, "example.mts");
  const source = code
    .replaceAll('from "threadfold"', `from ${JSON.stringify(join(root, "index.ts"))}`)
    .replaceAll('from "threadfold/testing"', `from ${JSON.stringify(join(root, "testing/index.ts"))}`);
  writeFileSync(file, source);
  return run(process.execPath, ["--import", loader, file], folder);
}

describe.each(pages)("%s", (page) => {
  const examples = examplesOf(page);
  const folder = mkdtempSync(join(tmpdir(), "threadfold-docs-"));
  folders.push(folder);
  mkdirSync(folder, { recursive: true });

  test(`${examples.length} marked examples work as they are written`, { timeout: 900_000 }, async () => {
    for (const example of examples) {
      const { code, output } =
        example.language === "ts" ? await runTypeScript(example, folder) : await runBash(example, folder);
      expect(code, `${page}:${example.line} ended with ${code}:\n${output}`).toBe(0);
    }
  });
});

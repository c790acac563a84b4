import { spawn } from "node:child_process";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { expect, onTestFinished, test } from "vitest";

const script = fileURLToPath(new URL("../../examples/quickstart.ts", import.meta.url));

test("the quickstart runs by itself and shows what it promises", { timeout: 120_000 }, async () => {
  const cwd = await mkdtemp(join(tmpdir(), "quickstart-"));
  onTestFinished(() => rm(cwd, { recursive: true, force: true }));
  const child = spawn(process.execPath, ["--import", import.meta.resolve("tsx"), script], { cwd });
  let output = "";
  child.stdout.setEncoding("utf8").on("data", (chunk: string) => {
    output += chunk;
  });
  child.stderr.setEncoding("utf8").on("data", (chunk: string) => {
    output += chunk;
  });
  const code = await new Promise((resolve) => child.once("close", resolve));
  expect({ code, output }).toMatchObject({ code: 0 });
  expect(output).toMatch(/RunStarted[\s\S]*ToolCallCompleted[\s\S]*ArtifactsPresented[\s\S]*RunCompleted/);
  expect(output).toMatch(/messages were added\n {2}add {5}\/artifacts\/0/);
  expect(output).toMatch(/messages before: 10, now: 3, at @\d+: 10/);
  expect(output).toContain("6 * 7 = 42");
  expect(output.match(/events and \d+ blobs, ok/g)).toHaveLength(2);
  const hashes = /during the run (\w+)\n\s+read again\s+(\w+)\n\s+refolded\s+(\w+)/.exec(output)?.slice(1);
  expect(new Set(hashes).size).toBe(1);
  expect(output).toContain(join(".threadfold", "threads.db"));
});

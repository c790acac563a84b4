import { spawnSync } from "node:child_process";
import { expect, test } from "vitest";
import { type ProcessRequest, runProcess } from "../../../actors/sandboxes/run-process.ts";

const run = (script: string, more: Partial<ProcessRequest> = {}) =>
  runProcess({
    file: "bash",
    args: ["-c", script],
    env: { PATH: "/usr/bin:/bin" },
    timeoutMs: 20_000,
    maxOutputBytes: 1_000_000,
    ...more,
  });

/** True while the process runs; one that was killed and waits for its parent does not. */
const alive = (pid: number) => {
  const { stdout } = spawnSync("ps", ["-o", "stat=", "-p", String(pid)], { encoding: "utf8" });
  return stdout.trim() !== "" && !stdout.startsWith("Z");
};

test("output, errors and the exit code come back apart", async () => {
  expect(await run("echo out; echo err >&2; exit 3")).toEqual({
    stdout: "out\n",
    stderr: "err\n",
    exitCode: 3,
    truncated: false,
  });
});

test("the environment is what is given and nothing of this process", async () => {
  process.env.THREADFOLD_TEST_SECRET = "hunter2";
  try {
    expect((await run("env")).stdout).not.toContain("hunter2");
  } finally {
    delete process.env.THREADFOLD_TEST_SECRET;
  }
});

test("at the time limit the command and its children are killed and the code is 124", async () => {
  const result = await run("sleep 60 & echo $!; wait", { timeoutMs: 300 });
  expect(result.exitCode).toBe(124);
  expect(result.stderr).toContain("300 ms");
  await expect.poll(() => alive(Number(result.stdout))).toBe(false);
});

test("an abort kills it with code 130, and before the start nothing runs", async () => {
  const abort = new AbortController();
  const running = run("sleep 60", { signal: abort.signal });
  abort.abort();
  expect((await running).exitCode).toBe(130);
  expect((await run("echo ran", { signal: abort.signal })).stdout).toBe("");
});

test("what it leaves in the background ends with it and does not hold the call open", async () => {
  const started = Date.now();
  const result = await run("sleep 60 & echo $!");
  expect(result.exitCode).toBe(0);
  expect(Date.now() - started).toBeLessThan(10_000);
  await expect.poll(() => alive(Number(result.stdout))).toBe(false);
});

test("output above the limit is cut, exactly there, and said to be", async () => {
  const exact = await run("printf 12345", { maxOutputBytes: 5 });
  expect(exact).toMatchObject({ stdout: "12345", truncated: false });
  expect(await run("printf 123456", { maxOutputBytes: 5 })).toMatchObject({
    stdout: "12345",
    truncated: true,
  });
});

test("a character that the limit cuts in half is dropped", async () => {
  expect((await run("printf 'aé'", { maxOutputBytes: 2 })).stdout).toBe("a");
});

test("a command that writes without end is killed long before the time limit", async () => {
  const result = await run("yes", { maxOutputBytes: 1_000 });
  expect(result).toMatchObject({ exitCode: 137, truncated: true });
  expect(result.stdout).toHaveLength(1_000);
});

test("a program that is not there gives 127, not a rejection", async () => {
  expect(await run("", { file: "no-such-program" })).toMatchObject({ exitCode: 127 });
});

test("bytes for file descriptor 3 reach the program", async () => {
  expect((await run("cat <&3", { fd3: "from three" })).stdout).toBe("from three");
});

import { spawn } from "node:child_process";
import { existsSync } from "node:fs";
import { mkdir, open, readdir, readFile, rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { describe, expect, test, vi } from "vitest";
import { modelServer, streamAnswer } from "./model-server.ts";
import { cli, cliBundle, emptyFolder } from "./run-cli.ts";

vi.setConfig({ testTimeout: 120_000 });

const bashCall = (command: string) => ({
  content: "",
  tool_calls: [
    {
      index: 0,
      id: "c1",
      type: "function",
      function: { name: "bash", arguments: JSON.stringify({ command }) },
    },
  ],
});

/** What becomes of a command whose stdout is a file on a disk that is full. */
async function toFullDisk(args: readonly string[], cwd: string) {
  const full = await open("/dev/full", "w");
  const child = spawn(process.execPath, [await cliBundle(), ...args], {
    cwd,
    stdio: ["ignore", full.fd, "pipe"],
  });
  let stderr = "";
  child.stderr?.setEncoding("utf8").on("data", (chunk: string) => {
    stderr += chunk;
  });
  const code = await new Promise<number | null>((resolve) => child.once("close", resolve));
  await full.close();
  return { code, stderr };
}

const threadOf = (stderr: string) => /thread (\S+)/.exec(stderr)?.[1] ?? "";

describe("run", () => {
  test("answers on stdout, talks on stderr, and says what to try next", async () => {
    const cwd = await emptyFolder();
    await mkdir(join(cwd, "docs"));
    await writeFile(join(cwd, "docs", "a.md"), "one two three\n");
    const { code, stdout, stderr } = await cli(
      ["run", "--files", "docs", "list the markdown files and count their words"],
      { cwd },
    );
    expect(code).toBe(0);
    expect(stdout).toMatch(/^builtin planner \(rules, not an LLM\)/);
    expect(stdout).toContain("- docs/a.md: 3 words");
    expect(stdout).not.toContain("Step 1");
    expect(stderr).toContain("· ls(/mnt/user-data/workspace)");
    expect(stderr).toMatch(/thread \S+ · versions 1–\d+\nnext: threadfold events/);
  });

  test("goes on with a thread, from stdin, as one JSON document", async () => {
    const cwd = await emptyFolder();
    await cli(["run", "--thread", "my-thread", "calculate 1 + 1"], { cwd });
    const { stdout } = await cli(["run", "-", "--thread", "my-thread", "--json"], {
      cwd,
      input: "calculate 2 + 2\n",
    });
    expect(JSON.parse(stdout)).toMatchObject({
      schemaVersion: 1,
      threadId: "my-thread",
      status: "completed",
      answer: expect.stringContaining("2 + 2 = 4"),
      interrupts: [],
    });
    const { messages } = JSON.parse((await cli(["state", "my-thread"], { cwd })).stdout);
    expect(messages).toHaveLength(4);
  });

  test("minted ids may be cut short; an id of somebody's own is another thread than a longer one", async () => {
    const cwd = await emptyFolder();
    const run = async (...args: string[]) =>
      JSON.parse((await cli(["run", "calculate 1 + 1", "--json", ...args], { cwd })).stdout)
        .threadId as string;
    const minted = await run();
    expect(await run("--thread", minted.slice(0, 8))).toBe(minted);
    for (const id of ["user-10", "user-1", "user", "user-1"]) expect(await run("--thread", id)).toBe(id);
    const { threads } = JSON.parse((await cli(["threads", "--json"], { cwd })).stdout);
    expect(threads).toHaveLength(4);
  });

  test("a whole folder is copied into the workspace, also when the store lies in it", async () => {
    const cwd = await emptyFolder();
    await mkdir(join(cwd, "deep", "node_modules"), { recursive: true });
    await writeFile(join(cwd, "note.md"), "hello");
    await writeFile(join(cwd, "deep", "b.md"), "b");
    await writeFile(join(cwd, "deep", "node_modules", "c.md"), "c");
    for (const _again of [1, 2]) {
      const run = await cli(["run", "--thread", "t", "--files", ".", "list the files here"], { cwd });
      expect(run.code).toBe(0);
    }
    const inside = join(cwd, ".threadfold", "threads", "t", "user-data", "workspace");
    const found = await readdir(inside, { recursive: true });
    const [top = ""] = found;
    expect(found.sort()).toEqual(
      [top, join(top, "deep"), join(top, "deep", "b.md"), join(top, "note.md")].sort(),
    );
  });

  test.skipIf(!existsSync("/dev/full"))(
    "an output that cannot be written is one line, and the run is recorded to its end",
    async () => {
      const cwd = await emptyFolder();
      await cli(["run", "--thread", "t", "calculate 1 + 1"], { cwd });
      for (const args of ["run --thread t again", "events t", "state t --json", "export t"]) {
        const result = await toFullDisk(args.split(" "), cwd);
        expect([args, result.code]).toEqual([args, 1]);
        expect(result.stderr).toContain("The output cannot be written (ENOSPC).");
        expect(result.stderr).not.toMatch(/\n\s+at /);
      }
      expect(JSON.parse((await cli(["threads", "--json"], { cwd })).stdout).threads).toMatchObject([
        { threadId: "t", status: expect.not.stringMatching("running") },
      ]);
      await cli(["export", "t", "-o", "t.ndjson"], { cwd });
      const before = await readFile(join(cwd, "t.ndjson"), "utf8");
      await mkdir(join(cwd, "t.ndjson.part"));
      const refused = await cli(["export", "t", "-o", "t.ndjson"], { cwd });
      expect(refused.stderr).toContain("t.ndjson cannot be written (EISDIR).");
      expect(refused.stderr).toContain("What was there before is kept.");
      expect(await readFile(join(cwd, "t.ndjson"), "utf8")).toBe(before);
    },
  );

  test("an export without its blobs verifies, and says what is not in it", async () => {
    const cwd = await emptyFolder();
    const prompt = "write 'two words' to note.txt then count the words in note.txt";
    await cli(["run", "--thread", "t", prompt], { cwd });
    await cli(["export", "t", "-o", "t.ndjson"], { cwd });
    const verified = await cli(["verify", "t.ndjson"], { cwd });
    expect(verified.code).toBe(0);
    expect(verified.stdout).toMatch(/\d+ not in the file \(export --blobs\)/);
    await cli(["export", "t", "--blobs", "-o", "whole.ndjson"], { cwd });
    expect((await cli(["verify", "whole.ndjson"], { cwd })).stdout).not.toContain("not in the file");
    // Blobs of what a rewind left behind are part of the record.
    await cli(["rewind", "t@1"], { cwd });
    expect((await cli(["verify", "t"], { cwd })).code).toBe(0);
    await rm(join(cwd, ".threadfold", "blobs"), { recursive: true });
    expect(await cli(["verify", "--all"], { cwd })).toMatchObject({ code: 4 });
  });

  test("--from forks the thread at a version and runs there", async () => {
    const cwd = await emptyFolder();
    await cli(["run", "--thread", "one", "calculate 1 + 1"], { cwd });
    const { stdout, stderr } = await cli(["run", "--from", "one@run:", "calculate 3 + 3"], { cwd });
    expect(stdout).toBe("");
    expect(stderr).toContain("is no position");
    const forked = await cli(["run", "--from", "one@0", "calculate 3 + 3", "--json"], { cwd });
    const { threadId } = JSON.parse(forked.stdout);
    expect(threadId).not.toBe("one");
    expect(JSON.parse((await cli(["state", threadId], { cwd })).stdout).messages).toHaveLength(2);
  });

  test("--stream events shows events, none shows nothing, --ndjson gives records and the result", async () => {
    const cwd = await emptyFolder();
    const events = await cli(["run", "--stream", "events", "calculate 1 + 1"], { cwd });
    expect(events.stdout).toMatch(/RunStarted[\s\S]*ModelResponded[\s\S]*RunCompleted/);
    expect((await cli(["run", "--stream", "none", "calculate 1 + 1"], { cwd })).stdout).toBe("");
    const { stdout } = await cli(["run", "--ndjson", "calculate 1 + 1"], { cwd });
    const records = stdout
      .trimEnd()
      .split("\n")
      .map((line) => JSON.parse(line));
    expect(new Set(records.map(({ kind }) => kind))).toEqual(new Set(["event", "token", "result"]));
    expect(records.at(-1)).toMatchObject({ schemaVersion: 1, kind: "result", status: "completed" });
  });

  test("--max-steps stops early and says so", async () => {
    const { code, stdout } = await cli(["run", "--max-steps", "2", "--json", "list files"], {
      cwd: await emptyFolder(),
    });
    expect(code).toBe(0);
    expect(JSON.parse(stdout).stopReason).toBe("max-steps");
  });

  test("--agent runs the agent of a file: its options, with the store of the command line", async () => {
    const cwd = await emptyFolder();
    await writeFile(
      join(cwd, "agent.ts"),
      'export default { model: "builtin:planner", systemPrompt: "mine" as string, tools: [] };\n',
    );
    const { code, stdout } = await cli(["run", "--agent", "agent.ts", "--thread", "t", "run `ls`"], { cwd });
    expect(code).toBe(0);
    expect(stdout).toContain("needs the tool `bash`, which this agent does not have (it has: none)");
    expect((await cli(["events", "t"], { cwd })).stdout).toContain("RunCompleted");
    await writeFile(join(cwd, "broken.ts"), "export default 7;\n");
    const broken = await cli(["run", "--agent", "broken.ts", "hi"], { cwd });
    expect(broken).toMatchObject({ code: 2, stdout: "" });
    expect(broken.stderr).toContain("default export is no agent");
  });

  test("--model replay: answers from a recorded thread, and fails loudly on a miss", async () => {
    const cwd = await emptyFolder();
    await cli(["run", "--thread", "one", "calculate 1 + 1"], { cwd });
    const again = await cli(["run", "--model", "replay:one", "calculate 1 + 1"], { cwd });
    expect(again).toMatchObject({ code: 0, stdout: expect.stringContaining("1 + 1 = 2") });
    const miss = await cli(["run", "--model", "replay:one", "calculate 1 + 2"], { cwd });
    expect(miss.code).toBe(1);
    expect(miss.stderr).toContain("The nearest recorded call is one@");
  });
});

describe("a language model", () => {
  test("streams its text; its commands wait for approval, and the exit code says so", async () => {
    const cwd = await emptyFolder();
    const env = await modelServer((response, question) => {
      if (question === 1) streamAnswer(response, bashCall("echo done-$((1+1))"), "tool_calls");
      else streamAnswer(response, { content: "All done." }, "stop");
    });
    const asked = await cli(["run", "--model", "openai:m", "do it"], { cwd, env });
    expect(asked.code).toBe(6);
    expect(asked.stderr).toMatch(/waits for an answer:\n {2}approval \S+: The model wants to run bash/);
    const thread = threadOf(asked.stderr);
    expect(asked.stderr).toContain(`threadfold resume ${thread} --approve`);
    expect((await cli(["threads"], { cwd })).stdout).toContain("\tinterrupted\t");

    const resumed = await cli(["resume", thread.slice(0, 20), "--approve"], {
      cwd,
      env,
    });
    expect(resumed).toMatchObject({ code: 0, stdout: "All done.\n" });
    const results = await cli(["events", thread, "--type", "ToolCallCompleted"], { cwd });
    expect(results.stdout).toContain("done-2");
    const twice = await cli(["resume", thread, "--approve", "--model", "openai:m"], { cwd, env });
    expect(twice.code).toBe(3);
  });

  test("--reject tells the model why; --edit runs other arguments", async () => {
    const cwd = await emptyFolder();
    const env = await modelServer((response, question) => {
      if (question % 2 === 1) streamAnswer(response, bashCall("echo original"), "tool_calls");
      else streamAnswer(response, { content: "ok" }, "stop");
    });
    const run = ["--model", "openai:m"];
    await cli(["run", ...run, "--thread", "a", "do it"], { cwd, env });
    expect((await cli(["resume", "a", ...run, "--reject", "too risky"], { cwd, env })).code).toBe(0);
    expect(
      (await cli(["events", "a", "--type", "ToolCallFailed,ToolCallCompleted"], { cwd })).stdout,
    ).toContain("too risky");
    await cli(["run", ...run, "--thread", "b", "do it"], { cwd, env });
    expect(
      (await cli(["resume", "b", ...run, "--edit", '{"command":"echo edited"}'], { cwd, env })).code,
    ).toBe(0);
    expect((await cli(["events", "b", "--type", "ToolCallCompleted"], { cwd })).stdout).toContain("edited");
    expect((await cli(["resume", "b", "--approve", "--reject"], { cwd, env })).code).toBe(2);
  });

  test("--approve all runs commands, --approve none rejects them, without asking", async () => {
    const cwd = await emptyFolder();
    const env = await modelServer((response, question) => {
      if (question % 2 === 1) streamAnswer(response, bashCall("echo ran"), "tool_calls");
      else streamAnswer(response, { content: "ok" }, "stop");
    });
    const all = await cli(["run", "--model", "openai:m", "--approve", "all", "--thread", "a", "go"], {
      cwd,
      env,
    });
    expect(all.code).toBe(0);
    expect((await cli(["events", "a", "--type", "ToolCallCompleted"], { cwd })).stdout).toContain("ran");
    const none = await cli(["run", "--model", "openai:m", "--approve", "none", "--thread", "b", "go"], {
      cwd,
      env,
    });
    expect(none.code).toBe(0);
    expect((await cli(["events", "b", "--grep", "rejected"], { cwd })).stdout).toContain("bash");
  });

  test("that cannot be reached ends with 7, and the failure is recorded", async () => {
    const cwd = await emptyFolder();
    const env = { OPENAI_BASE_URL: "http://127.0.0.1:9/v1" };
    const { code, stderr } = await cli(["run", "--model", "openai:m", "--thread", "t", "hi"], { cwd, env });
    expect(code).toBe(7);
    expect(stderr).toMatch(/error: .*Connection error\.\n/);
    expect(stderr).toContain("threadfold doctor --probe");
    expect((await cli(["threads"], { cwd })).stdout).toContain("\tfailed\t");
  });

  test("that never answers: Ctrl-C once cancels, which is recorded, and ends with 130", async () => {
    const cwd = await emptyFolder();
    const env = await modelServer(() => undefined);
    let sent = false;
    const { code, stdout } = await cli(
      ["run", "--model", "openai:m", "--thread", "t", "--stream", "events", "hi"],
      {
        cwd,
        env,
        onStdout: (text, child) => {
          if (sent || !text.includes("ModelCallStarted")) return;
          sent = true;
          child.kill("SIGINT");
        },
      },
    );
    expect(code).toBe(130);
    expect(stdout).toMatch(/RunCancelled\s+Ctrl-C/);
    expect((await cli(["verify", "t"], { cwd })).code).toBe(0);
  });

  test("that is never let go: Ctrl-C twice ends at once, what was recorded holds", async () => {
    const cwd = await emptyFolder();
    const env = await modelServer(() => undefined);
    await writeFile(
      join(cwd, "agent.ts"),
      `const stuck = { name: "stuck", middleware: true, release: () => new Promise(() => {}) };
       export default { model: "openai:m", middleware: [stuck] };`,
    );
    let signals = 0;
    const { code, stdout } = await cli(
      ["run", "--agent", "agent.ts", "--thread", "t", "--stream", "events", "hi"],
      {
        cwd,
        env,
        onStdout: (text, child) => {
          const waits = signals === 0 ? "ModelCallStarted" : "RunCancelRequested";
          if (signals > 1 || !text.includes(waits)) return;
          signals += 1;
          child.kill("SIGINT");
        },
      },
    );
    expect({ code, signals }).toEqual({ code: 130, signals: 2 });
    expect(stdout).not.toContain("RunCancelled");
    expect((await cli(["verify", "t"], { cwd })).code).toBe(0);
  });

  test("--timeout cancels a run that takes too long", async () => {
    const cwd = await emptyFolder();
    const env = await modelServer(() => undefined);
    const { code, stdout } = await cli(["run", "--model", "openai:m", "--timeout", "1", "--json", "hi"], {
      cwd,
      env,
    });
    expect(code).toBe(1);
    expect(JSON.parse(stdout).status).toBe("cancelled");
  });
});

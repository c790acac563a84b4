import { mkdir, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { describe, expect, test, vi } from "vitest";
import { modelServer, streamAnswer } from "./model-server.ts";
import { cli, emptyFolder } from "./run-cli.ts";

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
    const { stdout } = await cli(["run", "-", "--thread", "my-thr", "--json"], {
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

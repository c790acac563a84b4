import { readFile } from "node:fs/promises";
import { type AIMessageChunk, HumanMessage } from "@langchain/core/messages";
import { describe, expect, test } from "vitest";
import { PlannerModel } from "../../../../actors/models/planner/planner-model.ts";
import { ask, makeFolder } from "./run-planner.ts";

const notes = {
  "a.md": "# Notes\n\none two three\n",
  "docs/b.md": "four five\n",
  "docs/deep/c.md": "six\n",
  "docs/d.txt": "seven eight nine ten\n",
};

describe("the planner drives real tools", () => {
  test("lists files of a kind in the whole tree, then counts the words of just those", async () => {
    const folder = await makeFolder(notes);
    const { text, called } = await ask(folder, "list the markdown files here and count their words");
    expect(text).toContain("3 .md files in /mnt/user-data/workspace:\n- a.md\n- docs/b.md\n- docs/deep/c.md");
    expect(text).toContain(
      "- a.md: 5 words\n- docs/b.md: 2 words\n- docs/deep/c.md: 1 word\n- total: 8 words",
    );
    expect(text).not.toContain("d.txt");
    expect(new Set(called)).toEqual(new Set(["ls", "bash"]));
  });

  test("counts by reading when no shell is bound, with the same numbers", async () => {
    const folder = await makeFolder(notes);
    const { text, called } = await ask(folder, "count the lines of all files in docs", ["ls", "read_file"]);
    expect(text).toContain("- docs/b.md: 1 line\n- docs/d.txt: 1 line\n- docs/deep/c.md: 1 line\n- total: 3");
    expect(new Set(called)).toEqual(new Set(["ls", "read_file"]));
  });

  test.each([
    ["read a.md", "one two three"],
    ['search for "five"', "docs/b.md:1:four five"],
    ["run `echo out$((1+1))`", "out2"],
    ["what is 2 + 3 * (4 - 1)?", "2 + 3 * (4 - 1) = 11"],
    ["calculate 12 divided by 5", "12 / 5 = 2.4"],
    ["summarize a.md", "Notes"],
    ["how many words are in docs/d.txt", "4 words"],
    ["读取 a.md", "one two three"],
    ["列出 docs 目录里的 markdown 文件，然后统计它们的行数", "合计: 2 行"],
    ["搜索“eight”", "docs/d.txt:1:seven eight nine ten"],
    ["计算 3乘以(4加5)", "27"],
    ["运行 `echo 你好`", "你好"],
  ])("%s", async (request, expected) => {
    const { text } = await ask(await makeFolder(notes), request);
    expect(text).toContain(expected);
  });

  test("searches by reading when no shell is bound", async () => {
    const { text } = await ask(await makeFolder(notes), 'search for "five"', ["ls", "read_file"]);
    expect(text).toContain("docs/b.md:1:four five");
  });

  test("writes, replaces and presents: the file lies where it can be presented from", async () => {
    const folder = await makeFolder();
    const { called } = await ask(
      folder,
      'write "hello world" to report.md, then replace "world" with "you" in report.md and then present report.md',
    );
    expect(called).toEqual(["write_file", "str_replace", "present_files"]);
    expect(await readFile(folder.hostPath("/mnt/user-data/outputs/report.md"), "utf8")).toBe("hello you");
    expect(folder.presented).toEqual([["/mnt/user-data/outputs/report.md"]]);
  });

  test("copies a workspace file to the outputs before it presents it", async () => {
    const folder = await makeFolder(notes);
    const { called } = await ask(folder, "present docs/b.md");
    expect(called).toEqual(["bash", "present_files"]);
    expect(await readFile(folder.hostPath("/mnt/user-data/outputs/b.md"), "utf8")).toBe("four five\n");
    const withoutShell = await ask(folder, "展示 a.md", ["read_file", "write_file", "present_files"]);
    expect(withoutShell.called).toEqual(["read_file", "write_file", "present_files"]);
  });

  test("saves the result of the step before", async () => {
    const folder = await makeFolder(notes);
    await ask(folder, "list the markdown files and save the result to index.md");
    expect(await readFile(folder.hostPath("/mnt/user-data/workspace/index.md"), "utf8")).toContain(
      "- docs/b.md",
    );
  });

  test("writes the todos it is given", async () => {
    const folder = await makeFolder();
    await ask(folder, "plan: buy milk; call mum");
    expect(folder.todos).toEqual([
      [
        { content: "buy milk", status: "pending" },
        { content: "call mum", status: "pending" },
      ],
    ]);
  });

  test("a plan without items is made of the steps that follow and is ticked off step by step", async () => {
    const folder = await makeFolder(notes);
    await ask(folder, "make a plan, then list the markdown files, then read missing.md");
    expect(folder.todos.map((todos) => todos.map(({ status }) => status))).toEqual([
      ["in_progress", "pending"],
      ["completed", "in_progress"],
      ["completed", "pending"],
    ]);
  });
});

describe("the planner is honest", () => {
  test("the first line of every answer says that it is rules", async () => {
    const folder = await makeFolder(notes);
    for (const request of ["list files", "write me a poem about spring", "你好", "read nothing.md"]) {
      const { text } = await ask(folder, request);
      expect(text.split("\n")[0]).toContain("builtin planner (rules, not an LLM)");
    }
  });

  test("an unknown request is called unknown and touches nothing", async () => {
    const { text, called } = await ask(await makeFolder(), "compose a sonnet");
    expect(text).toContain('I do not understand "compose a sonnet". Nothing was done for it.');
    expect(called).toEqual([]);
  });

  test("a tool that is not bound is named, never called", async () => {
    const { text, called } = await ask(await makeFolder(notes), "run `ls`", ["ls"]);
    expect(text).toContain("needs the tool `bash`");
    expect(called).toEqual([]);
  });

  test("a tool that fails ends its step and not the request", async () => {
    const { text } = await ask(await makeFolder(notes), "read missing.md, then calculate 1 + 1");
    expect(text).toContain('Could not do "read missing.md": Error: ENOENT');
    expect(text).toContain("1 + 1 = 2");
  });
});

describe("the planner as a chat model", () => {
  test("the same messages and tools give the same answer, call ids included", async () => {
    const folder = await makeFolder(notes);
    const model = new PlannerModel().bindTools([folder.tools.ls]);
    const messages = [new HumanMessage({ content: "list files", id: "1" })];
    const [first, second] = [await model.invoke(messages), await model.invoke(messages)];
    expect(first.tool_calls).toEqual(second.tool_calls);
    const other = await model.invoke([new HumanMessage({ content: "list files", id: "2" })]);
    expect(other.tool_calls?.[0]?.id).not.toBe(first.tool_calls?.[0]?.id);
  });

  test("streams its text in pieces that add up to the answer", async () => {
    const model = new PlannerModel();
    const messages = [new HumanMessage("calculate 6 * 7")];
    const pieces: string[] = [];
    for await (const chunk of await model.stream(messages)) pieces.push(chunk.text);
    expect(pieces.length).toBeGreaterThan(5);
    expect(pieces.join("")).toBe((await model.invoke(messages)).text);
  });

  test("streams its tool calls whole", async () => {
    const folder = await makeFolder(notes);
    const stream = await new PlannerModel().bindTools([folder.tools.ls]).stream("list files");
    let whole: AIMessageChunk | undefined;
    for await (const chunk of stream) whole = whole?.concat(chunk) ?? chunk;
    expect(whole?.tool_calls).toMatchObject([{ name: "ls", args: { path: "/mnt/user-data/workspace" } }]);
  });

  test("answers reminders briefly instead of answering the request again", async () => {
    const { messages } = await ask(await makeFolder(), "plan: buy milk; call mum");
    const reminder = new HumanMessage({ content: "open todos", name: "todo_completion_reminder" });
    const answer = await new PlannerModel().invoke([...messages, reminder]);
    expect(answer.text).toBe("The open todos are for you: my rules cannot do them.");
  });

  test("reads the request behind the blocks that middlewares put in front of it", async () => {
    const model = new PlannerModel();
    const content = "<current_uploads>\n- x.md\n</current_uploads>\n\ncalculate 1 + 2";
    expect((await model.invoke([new HumanMessage(content)])).text).toContain("1 + 2 = 3");
  });

  test("stops when its signal is aborted", async () => {
    const signal = AbortSignal.abort(new Error("stop"));
    await expect(new PlannerModel().invoke("calculate 1 + 1", { signal })).rejects.toThrow();
  });
});

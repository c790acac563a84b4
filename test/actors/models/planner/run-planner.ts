import { execFile } from "node:child_process";
import { mkdir, mkdtemp, readdir, readFile, rm, stat, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { promisify } from "node:util";
import { AIMessage, type BaseMessage, HumanMessage, ToolMessage } from "@langchain/core/messages";
import { tool } from "@langchain/core/tools";
import { onTestFinished } from "vitest";
import { z } from "zod";
import { PlannerModel } from "../../../../actors/models/planner/planner-model.ts";

const execute = promisify(execFile);

/** A real folder with real tools on it, in the shape that the planner knows. */
export async function makeFolder(files: Readonly<Record<string, string>> = {}) {
  const root = await mkdtemp(join(tmpdir(), "planner-"));
  onTestFinished(() => rm(root, { recursive: true, force: true }));
  const hostPath = (path: string) => join(root, path.replace("/mnt/user-data", ""));
  for (const folder of ["workspace", "outputs", "uploads"]) await mkdir(join(root, folder));
  for (const [name, text] of Object.entries(files)) {
    await mkdir(dirname(join(root, "workspace", name)), { recursive: true });
    await writeFile(join(root, "workspace", name), text);
  }
  const presented: string[][] = [];
  const todos: { content: string; status: string }[][] = [];
  const all = {
    ls: tool(
      async ({ path }) => {
        const names = (await readdir(hostPath(path))).sort();
        const lines = await Promise.all(
          names.map(async (name) =>
            (await stat(join(hostPath(path), name))).isDirectory() ? `${name}/` : name,
          ),
        );
        return lines.join("\n") || "(empty)";
      },
      { name: "ls", description: "lists", schema: z.object({ path: z.string() }) },
    ),
    read_file: tool(({ path }) => readFile(hostPath(path), "utf8"), {
      name: "read_file",
      description: "reads",
      schema: z.object({ description: z.string(), path: z.string() }),
    }),
    write_file: tool(
      async ({ path, content }) => {
        await mkdir(dirname(hostPath(path)), { recursive: true });
        await writeFile(hostPath(path), content);
        return "OK";
      },
      {
        name: "write_file",
        description: "writes",
        schema: z.object({ path: z.string(), content: z.string() }),
      },
    ),
    str_replace: tool(
      async ({ path, old_str, new_str }) => {
        const text = await readFile(hostPath(path), "utf8");
        if (!text.includes(old_str)) throw new Error(`"${old_str}" is not in ${path}`);
        await writeFile(hostPath(path), text.replace(old_str, new_str));
        return "OK";
      },
      {
        name: "str_replace",
        description: "replaces",
        schema: z.object({ path: z.string(), old_str: z.string(), new_str: z.string() }),
      },
    ),
    bash: tool(
      async ({ command }) => {
        const mapped = command.replaceAll("/mnt/user-data", root);
        const { stdout } = await execute("bash", ["-c", mapped], { cwd: join(root, "workspace") });
        return stdout || "(no output)";
      },
      { name: "bash", description: "runs", schema: z.object({ command: z.string() }) },
    ),
    present_files: tool(
      ({ filepaths }) => {
        presented.push(filepaths);
        return "presented";
      },
      {
        name: "present_files",
        description: "presents",
        schema: z.object({ filepaths: z.array(z.string()) }),
      },
    ),
    write_todos: tool(
      ({ todos: written }) => {
        todos.push(written);
        return "written";
      },
      {
        name: "write_todos",
        description: "plans",
        schema: z.object({ todos: z.array(z.object({ content: z.string(), status: z.string() })) }),
      },
    ),
  };
  return { root, hostPath, presented, todos, tools: all };
}

export type Folder = Awaited<ReturnType<typeof makeFolder>>;
export type ToolName = keyof Folder["tools"];

/** Lets the planner work until it answers; gives the answer and the names of the tools it called. */
export async function ask(folder: Folder, request: string, names = Object.keys(folder.tools) as ToolName[]) {
  const model = new PlannerModel().bindTools(names.map((name) => folder.tools[name]));
  const messages: BaseMessage[] = [new HumanMessage({ content: request, id: "request" })];
  const called: string[] = [];
  for (let turn = 0; turn < 40; turn++) {
    const answer = await model.invoke(messages);
    messages.push(
      new AIMessage({ content: answer.text, tool_calls: answer.tool_calls ?? [], id: `ai-${turn}` }),
    );
    if (!answer.tool_calls?.length) return { text: answer.text, called, messages };
    for (const call of answer.tool_calls) {
      called.push(call.name);
      const run = folder.tools[call.name as ToolName] as unknown as {
        invoke(args: unknown): Promise<string>;
      };
      const [content, status] = await run.invoke(call.args).then(
        (text): [string, "success"] => [text, "success"],
        (error: Error): [string, "error"] => [`Error: ${error.message}`, "error"],
      );
      messages.push(new ToolMessage({ content, status, tool_call_id: call.id ?? "", id: `tool-${call.id}` }));
    }
  }
  throw new Error("The planner did not answer within 40 turns.");
}

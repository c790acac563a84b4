import { mkdir, mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { beforeEach, describe, expect, onTestFinished, test } from "vitest";
import { AgentFileError, loadAgent } from "../../../apps/cli/load-agent.ts";
import { ConfigError, findConfigFile, readSettings } from "../../../apps/cli/settings.ts";
import { FileNotFoundError } from "../../../apps/cli/usage-error.ts";
import { openStore } from "../../../events/open-store.ts";

let folder: string;
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), "settings-"));
  onTestFinished(() => rm(folder, { recursive: true, force: true }));
});

const write = async (name: string, text: string) => {
  await writeFile(join(folder, name), text);
  return join(folder, name);
};
const read = (config: string) => readSettings({ color: "auto", config }, {});

describe("the config file", () => {
  test("is found in a folder above, TypeScript before JSON", async () => {
    const deep = join(folder, "a", "b");
    await mkdir(deep, { recursive: true });
    const json = await write("threadfold.config.json", "{}");
    expect(findConfigFile(deep)).toBe(json);
    const typescript = await write("threadfold.config.ts", "export default {};");
    expect(findConfigFile(deep)).toBe(typescript);
  });

  test.each([
    [
      "threadfold.config.ts",
      'const model: string = "ollama:x"; export default { model, agent: "./agent.ts" };',
    ],
    ["threadfold.config.mjs", 'export default { model: "ollama:x", agent: "./agent.ts" };'],
    ["threadfold.config.json", '{ "model": "ollama:x", "agent": "./agent.ts" }'],
  ])("%s", async (name, text) => {
    const settings = await read(await write(name, text));
    expect(settings.model).toEqual({ value: "ollama:x", from: "config file" });
    expect(settings.agent.value).toBe(join(folder, "agent.ts"));
  });

  test.each([
    ["data/x.db", "sqlite:DIR/data/x.db"],
    ["sqlite:x.db", "sqlite:DIR/x.db"],
    ["memory:", "memory:"],
    ["kurrentdb://host:2113", "kurrentdb://host:2113"],
  ])("a store %s is seen from the file", async (store, expected) => {
    const settings = await read(await write("threadfold.config.json", JSON.stringify({ store })));
    expect(settings.store.value).toBe(expected.replace("DIR", folder));
  });

  test.each([
    ["another type", '{ "model": 3 }', /"model": /],
    ["an unknown key", '{ "modle": "x" }', /modle/],
    ["no object", "[]", /cannot be used/],
    ["broken text", "{", /does not load/],
  ])("%s is refused with its place", async (_what, text, message) => {
    const error = await read(await write("threadfold.config.json", text)).catch((thrown: unknown) => thrown);
    expect(error).toBeInstanceOf(ConfigError);
    expect((error as Error).message).toMatch(message);
  });
});

describe("the agent file", () => {
  const load = async (text: string, model?: string) => {
    const store = await openStore("memory:");
    onTestFinished(() => store.close());
    const agent = await loadAgent(await write("agent.ts", text), {
      store,
      ...(model !== undefined && { model }),
    });
    return { agent, store };
  };

  test("may export options: the store of the command line is used, and its model if one is named", async () => {
    const { agent, store } = await load('export default { name: "mine", model: "ollama:x" };');
    expect(agent.name).toBe("mine");
    expect(await agent.store()).toBe(store);
    const run = await agent.thread("t").run("calculate 1 + 1").result;
    expect(run.status).toBe("failed");
    const other = await load('export default { name: "mine", model: "ollama:x" };', "builtin:planner");
    expect((await other.agent.thread("t").run("calculate 1 + 1").result).status).toBe("completed");
  });

  test("may export a function that is given store and model", async () => {
    const { agent } = await load(
      "export default ({ store, model }: { store: object; model?: string }) => ({ name: String(model), model: model ?? 'x', store });",
      "builtin:planner",
    );
    expect(agent.name).toBe("builtin:planner");
  });

  test("is given the running package when it is TypeScript, whichever copy stands beside it", async () => {
    await mkdir(join(folder, "node_modules/threadfold"), { recursive: true });
    const other = "export const todosMiddleware = () => { throw new Error('another copy'); };";
    await write("node_modules/threadfold/index.mjs", other);
    await write("node_modules/threadfold/package.json", '{ "name": "threadfold", "exports": "./index.mjs" }');
    const { agent } = await load(
      'import { todosMiddleware } from "threadfold"; export default { model: "builtin:planner", middleware: [todosMiddleware()] };',
    );
    const run = await agent.thread("t").run("plan: buy milk").result;
    expect(run.state.todos).toMatchObject([{ content: "buy milk" }]);
  });

  test.each([
    ["no agent", "export default 7;", /default export is no agent/],
    ["no model", "export default {};", /names no model/],
    ["something that throws", "throw new Error('broken inside');", /broken inside/],
  ])("%s is refused", async (_what, text, message) => {
    const error = await load(text).catch((thrown: unknown) => thrown);
    expect(error).toBeInstanceOf(AgentFileError);
    expect((error as Error).message).toMatch(message);
  });

  test("that is not there is not found", async () => {
    const store = await openStore("memory:");
    onTestFinished(() => store.close());
    await expect(loadAgent(join(folder, "none.ts"), { store })).rejects.toThrow(FileNotFoundError);
  });
});

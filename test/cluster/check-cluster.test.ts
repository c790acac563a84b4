import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
import { createAgent } from "../../actors/create-agent.ts";
import { newEvent } from "../../actors/new-event.ts";
import { openStore } from "../../events/open-store.ts";
import type { Store } from "../../events/store.ts";
import { eventsOf } from "../actors/recorded-events.ts";
import { ScriptedModel } from "../actors/scripted-model.ts";
import { add, callsTools } from "../actors/simple-tools.ts";
import { checkCluster } from "./check-cluster.ts";

let folder: string;
let store: Store;
let acknowledged: string[];

beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), "threadfold-check-"));
  store = await openStore("memory:");
  const model = new ScriptedModel({ answers: [callsTools(["add", { a: 1, b: 2 }, "c1"]), "done"] });
  const agent = createAgent({ model, tools: [add], store });
  await agent.thread("t").run("go", { runId: "r" }).result;
  acknowledged = (await eventsOf(agent.thread("t"))).map(
    ({ stream, version, id }) => `${stream} ${version} ${id}\n`,
  );
});
afterEach(async () => {
  await store.close();
  await rm(folder, { recursive: true, force: true });
});

async function check(acknowledgedLines: readonly string[], toolLines: string) {
  const [acknowledgedFile, toolFile] = [join(folder, "acknowledged"), join(folder, "tools")];
  await writeFile(acknowledgedFile, acknowledgedLines.join(""));
  await writeFile(toolFile, toolLines);
  return checkCluster(store, { runs: 1, acknowledgedFiles: [acknowledgedFile], toolFiles: [toolFile] });
}

test("a log that is as the processes noted is in order", async () => {
  expect(await check(acknowledged, "began t c1\ndone t c1\n")).toMatchObject({
    acknowledged: acknowledged.length,
    lost: 0,
    doubled: 0,
    toolsRun: 1,
    toolsRunTwice: 0,
    toolsBegunTwice: 0,
    threadsFinished: 1,
    completed: 1,
    problems: [],
  });
});

test("an event that was acknowledged and is not there, or is another one, is lost", async () => {
  const more = ["thread-t 99 x\n", `thread-t 1 another\n`];
  expect(await check([...acknowledged, ...more], "began t c1\ndone t c1\n")).toMatchObject({ lost: 2 });
});

test("a tool that ran twice is counted, whether it had come to its end or not", async () => {
  const twice = await check(acknowledged, "began t c1\ndone t c1\nbegan t c1\n");
  expect(twice).toMatchObject({ toolsRunTwice: 1, toolsBegunTwice: 1 });
  const cut = await check(acknowledged, "began t c1\ndone t c1\nbegan t c2\nbegan t c2\n");
  expect(cut).toMatchObject({ toolsRun: 2, toolsRunTwice: 0, toolsBegunTwice: 1 });
});

test("a call that is recorded as completed and never ran is a problem", async () => {
  expect((await check(acknowledged, "began t c1\n")).problems).toHaveLength(1);
});

test("a run that was started twice is doubled, and its thread is not finished", async () => {
  const started = newEvent(
    { type: "RunStarted", data: { runId: "r", owner: "other" } },
    { schema: 1, by: "runtime", recordedAt: new Date().toISOString(), cause: undefined, runId: "r", step: 0 },
  );
  await store.log.append("thread-t", [started], { expectedVersion: acknowledged.length });
  expect(await check(acknowledged, "began t c1\ndone t c1\n")).toMatchObject({
    doubled: 1,
    threadsFinished: 0,
  });
});

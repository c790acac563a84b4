import { afterEach, describe, expect, test } from "vitest";
import type { Agent } from "../../actors/agent-contract.ts";
import { createAgent } from "../../actors/create-agent.ts";
import type { Middleware } from "../../actors/middleware/define-middleware.ts";
import { titleMiddleware } from "../../actors/middleware/title.ts";
import {
  editAndRerun,
  InheritedMessageError,
  regenerate,
  UnknownMessageError,
} from "../../actors/regenerate.ts";
import type { Message } from "../../events/message.ts";
import { openStore } from "../../events/open-store.ts";
import type { Store } from "../../events/store.ts";
import { transcript } from "./recorded-events.ts";
import { ScriptedModel } from "./scripted-model.ts";

let store: Store;
let agent: Agent;
afterEach(async () => {
  await agent.close();
  await store.close();
});

async function conversation(middleware: readonly Middleware[] = []): Promise<void> {
  store = await openStore("memory:");
  agent = createAgent({
    model: new ScriptedModel({ answers: ["first", "second", "third", "fourth"] }),
    store,
    middleware,
  });
  await agent.thread("t").run("one").result;
  await agent.thread("t").run("two").result;
}
const said = async (threadId = "t") => transcript((await agent.thread(threadId).state()).messages);
const messages = async () => (await agent.thread("t").state()).messages as readonly Message[];

describe("regenerate", () => {
  test("asks for another answer with the same input; the old branch stays readable", async () => {
    await conversation();
    const { version } = await agent.thread("t").info();
    const { run } = await regenerate(agent, "t");
    expect((await run.result).status).toBe("completed");
    expect(await said()).toEqual(["human: one", "ai: first", "human: two", "ai: third"]);
    expect(transcript((await agent.thread("t").stateAt(version)).messages).at(-1)).toBe("ai: second");
  });

  test("goes back to any answer of the thread", async () => {
    await conversation();
    const first = (await messages())[1]?.id ?? "";
    const { run } = await regenerate(agent, "t", { messageId: first });
    await run.result;
    expect(await said()).toEqual(["human: one", "ai: third"]);
  });

  test("a title that the user gave meanwhile stays, also when the message is edited", async () => {
    await conversation([titleMiddleware()]);
    await agent.thread("t").update({ title: "Mine" });
    const first = (await messages())[1]?.id ?? "";
    await (await regenerate(agent, "t", { messageId: first })).run.result;
    expect((await agent.thread("t").state()).title).toBe("Mine");
    await (await editAndRerun(agent, "t", "one more")).run.result;
    expect((await agent.thread("t").state()).title).toBe("Mine");
  });

  test("as a fork it leaves the thread as it is", async () => {
    await conversation();
    const { thread, run } = await regenerate(agent, "t", { as: "fork", threadId: "other" });
    await run.result;
    expect(thread.id).toBe("other");
    expect(await said("other")).toEqual(["human: one", "ai: first", "human: two", "ai: third"]);
    expect(await said()).toEqual(["human: one", "ai: first", "human: two", "ai: second"]);
  });

  test("a fork cannot go back behind its own beginning, but can be forked from there", async () => {
    await conversation();
    await agent.thread("t").fork({ threadId: "child" });
    await expect(regenerate(agent, "child")).rejects.toThrow(InheritedMessageError);
    const { run } = await regenerate(agent, "child", { as: "fork", threadId: "other" });
    await run.result;
    expect(await said("other")).toEqual(["human: one", "ai: first", "human: two", "ai: third"]);
  });

  test("a message that no model gave is named", async () => {
    await conversation();
    await expect(regenerate(agent, "t", { messageId: "nothing" })).rejects.toThrow(UnknownMessageError);
  });
});

describe("editAndRerun", () => {
  test("runs with other content in the place of the user's last message", async () => {
    await conversation();
    const { run } = await editAndRerun(agent, "t", "TWO");
    await run.result;
    expect(await said()).toEqual(["human: one", "ai: first", "human: TWO", "ai: third"]);
  });

  test("what came after an earlier message is left behind", async () => {
    await conversation();
    const messageId = (await messages())[0]?.id ?? "";
    const { run, from } = await editAndRerun(agent, "t", "ONE", { messageId });
    await run.result;
    expect(from).toBe(0);
    expect(await said()).toEqual(["human: ONE", "ai: third"]);
    expect((await messages())[0]?.id).toBe(messageId);
  });
});

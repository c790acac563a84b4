import { afterEach, describe, expect, test } from "vitest";
import { createAgent } from "../../actors/create-agent.ts";
import { titleMiddleware } from "../../actors/middleware/title.ts";
import { NothingToCompareError, whatIf } from "../../actors/what-if.ts";
import { openStore } from "../../events/open-store.ts";
import type { Store } from "../../events/store.ts";
import { transcript } from "./recorded-events.ts";
import { ScriptedModel } from "./scripted-model.ts";
import { add, callsTools } from "./simple-tools.ts";

let store: Store;
afterEach(() => store.close());

const agentWith = (...answers: ConstructorParameters<typeof ScriptedModel>[0]["answers"][]) =>
  createAgent({
    model: new ScriptedModel({ answers: answers.flat() as never }),
    tools: [add],
    middleware: [titleMiddleware()],
    store,
  });

async function recorded(): Promise<void> {
  store = await openStore("memory:");
  const agent = agentWith([callsTools(["add", { a: 1, b: 2 }]), "Three.", "Bye."]);
  await agent.thread("t").run("How much is 1 + 2?").result;
  await agent.thread("t").run("Thanks.").result;
  await agent.close();
}

describe("whatIf", () => {
  test("does the next run otherwise in a fork, and compares how the two went", async () => {
    await recorded();
    const changed = agentWith(["3, I need no tool for that."]);
    const { before, after, fields, patch, at } = await whatIf(changed, "t", { at: 0, threadId: "other" });
    expect(at).toBe(0);
    expect(before).toMatchObject({ status: "completed", modelCalls: 2, tools: ["add"], answer: "Three." });
    expect(after).toMatchObject({ threadId: "other", status: "completed", modelCalls: 1, toolCalls: 0 });
    expect(after.answer).toBe("3, I need no tool for that.");
    expect(fields).toEqual(["messages"]);
    expect(patch.length).toBeGreaterThan(0);
    expect(transcript((await changed.thread("t").state()).messages)).toHaveLength(6);
    await changed.close();
  });

  test("goes on for as many runs as are asked for", async () => {
    await recorded();
    const changed = agentWith(["Three!", "You are welcome."]);
    const { before, after } = await whatIf(changed, "t", { at: 0, runs: 2 });
    expect(before).toMatchObject({ modelCalls: 3, answer: "Bye." });
    expect(after).toMatchObject({ modelCalls: 2, answer: "You are welcome." });
    await changed.close();
  });

  test("follows the branch that the version stands on, not one that was left behind", async () => {
    store = await openStore("memory:");
    const agent = agentWith(["left behind", "went on"]);
    const thread = agent.thread("t");
    await thread.run("first try").result;
    await thread.rewind({ to: 0 });
    await thread.run("second try").result;
    await agent.close();
    const changed = agentWith(["otherwise"]);
    const { before } = await whatIf(changed, "t", { at: 0 });
    expect(before).toMatchObject({ answer: "went on", modelCalls: 1 });
    await changed.close();
  });

  test("takes another input", async () => {
    await recorded();
    const changed = agentWith(["Hello."]);
    const { version } = await changed.thread("t").info();
    const { before, after } = await whatIf(changed, "t", { at: version, input: "Hi." });
    expect(before).toBeUndefined();
    expect(after.answer).toBe("Hello.");
    await expect(whatIf(changed, "t", { at: version })).rejects.toThrow(NothingToCompareError);
    await changed.close();
  });
});

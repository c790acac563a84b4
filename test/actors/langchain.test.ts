import * as core from "@langchain/core/messages";
import { expect, test } from "vitest";
import * as langchain from "../../actors/langchain.ts";
import { toLangChain } from "../../actors/messages/to-langchain.ts";
import { toStored } from "../../actors/messages/to-stored.ts";

const { LangChainNotLoadedError, loadLangChain } = langchain;

test("what needs LangChain before it is loaded says so, and is LangChain's own from then on", async () => {
  const message = { id: "m", type: "human", content: "hello" };
  expect(() => toLangChain(message)).toThrow(LangChainNotLoadedError);
  expect(() => toStored(message, () => "n")).toThrow("await loadLangChain()");
  expect(() => langchain.ToolMessage.isInstance(message)).toThrow(LangChainNotLoadedError);
  expect(() => message instanceof langchain.AIMessage).toThrow(LangChainNotLoadedError);
  await loadLangChain();
  expect(toLangChain(message)).toBeInstanceOf(core.HumanMessage);
  expect(langchain.AIMessage).toBe(core.AIMessage);
});

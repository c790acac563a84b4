import { existsSync } from "node:fs";
import { HumanMessage, ToolMessage } from "@langchain/core/messages";
import { describe, expect, test } from "vitest";
import { privateFields, threadDataMiddleware } from "../../../actors/middleware/thread-data.ts";
import { threadFolders } from "../../../actors/sandboxes/thread-folders.ts";
import type { ToolResult } from "../../../actors/tools/define-tool.ts";
import { createThreadReducer } from "../../../reducers/built-in.ts";
import { temporaryStoreFolder } from "../sandboxes/thread-files.ts";
import { type CaseMessage, callHook, callTool, hookRuntime, hookState, toolRequest } from "./hook-bench.ts";

const reducer = createThreadReducer();

async function started(options: {
  folder: string;
  lazy?: boolean;
  context?: Record<string, unknown>;
  runId?: string;
  messages?: readonly (CaseMessage & { id: string })[];
  fields?: Record<string, unknown>;
}) {
  const { folder, lazy, context = { user_id: "u1" }, messages = [], fields = {}, runId = "r1" } = options;
  const middleware = threadDataMiddleware(lazy === undefined ? {} : { lazy });
  const runtime = hookRuntime({ folder, context, runId, threadId: "t1" });
  const outcome = await callHook(middleware.beforeAgent, hookState(messages, fields), runtime);
  const events = (outcome?.events ?? []).map((draft, index) => ({ ...draft, version: index + 1 }));
  return { events, state: reducer.fold(events, { ...reducer.initial, ...fields, messages }) };
}

describe("thread data", () => {
  for (const { id, lazy } of [
    { id: "THD-01", lazy: true },
    { id: "THD-02", lazy: false },
  ]) {
    test(`${id}: the folders of thread and user are named, and ${lazy ? "not made" : "made"}`, async () => {
      const folder = await temporaryStoreFolder();
      const { state } = await started({ folder, lazy });
      const bound = state.thread_data as Record<string, string>;
      for (const name of ["workspace", "uploads", "outputs"]) {
        const path = bound[`${name}_path`] ?? "";
        expect(path.startsWith(`${folder}/users/u1/threads/t1/`)).toBe(true);
        expect(path.endsWith(`/${name}`)).toBe(true);
        expect(existsSync(path)).toBe(!lazy);
      }
    });
  }

  test("folders are only named unless asked otherwise, and need no user", async () => {
    const folder = await temporaryStoreFolder();
    const { state } = await started({ folder, context: {} });
    expect(state.thread_data).toEqual(threadFolders({ folder, threadId: "t1" }));
    expect(existsSync(`${folder}/threads`)).toBe(false);
  });

  test("the binding is recorded again only when it changed", async () => {
    const folder = "/s";
    const bound = threadFolders({ folder, threadId: "t1", userId: "u1" });
    expect((await started({ folder, fields: { thread_data: { ...bound } } })).events).toEqual([]);
    const inherited = threadFolders({ folder, threadId: "parent", userId: "u1" });
    expect((await started({ folder, fields: { thread_data: inherited } })).state.thread_data).toEqual(bound);
  });

  test("the folders option names other folders", async () => {
    const parent = threadFolders({ folder: "/s", threadId: "parent" });
    const middleware = threadDataMiddleware({ folders: () => parent });
    const outcome = await callHook(middleware.beforeAgent, hookState([]), hookRuntime());
    expect(outcome?.events).toEqual([{ type: "ThreadDataBound", data: parent }]);
  });

  for (const { id, given, name, runId } of [
    { id: "THD-05", given: {}, name: "user-input", runId: "r1" },
    { id: "THD-06", given: { name: "Bob" }, name: "Bob", runId: "r2" },
  ]) {
    test(`${id}: the newest user message gets run, time and a name, if it has none`, async () => {
      const messages = [{ type: "human", content: "hello", id: "m1", ...given }];
      const { state } = await started({ folder: "/s", messages, runId });
      const [message] = state.messages as { additional_kwargs: { timestamp: string } }[];
      expect(message).toMatchObject({
        type: "human",
        id: "m1",
        content: "hello",
        name,
        additional_kwargs: { run_id: runId },
      });
      expect(new Date(message?.additional_kwargs.timestamp ?? "").toISOString()).toBe(
        message?.additional_kwargs.timestamp,
      );
    });
  }

  test("a message that is stamped for this run, or is no user's, stays as it is", async () => {
    const stamped = { type: "human", content: "hello", id: "m1", additional_kwargs: { run_id: "r1" } };
    const answered = { type: "ai", content: "hi", id: "m2" };
    const fields = { thread_data: threadFolders({ folder: "/s", threadId: "t1", userId: "u1" }) };
    for (const message of [stamped, answered]) {
      expect((await started({ folder: "/s", fields, messages: [message] })).events).toEqual([]);
    }
  });

  test("only the message is recorded, not the list", async () => {
    const messages = Array.from({ length: 50 }, (_, index) => ({
      type: "human",
      content: "x",
      id: `m${index}`,
    }));
    const { events } = await started({ folder: "/s", messages });
    expect(events.map(({ type }) => type)).toEqual(["ThreadDataBound", "MessagesReplaced"]);
    expect(events[1]?.data).toMatchObject({ messages: [{ id: "m49" }] });
  });
});

describe("host paths stay on this side", () => {
  const middleware = threadDataMiddleware();
  const { outputs_path, workspace_path } = threadFolders({ folder: "/srv/store", threadId: "t" });
  const request = toolRequest({ name: "any" }, { folder: "/srv/store" });
  const contentOf = async (result: ToolResult | ToolMessage) =>
    ((await callTool(middleware, request, () => result)).result as ToolResult).content;

  test("the field is marked as private", () => {
    expect(privateFields).toEqual(["thread_data"]);
  });

  test("in results of any form", async () => {
    expect(await contentOf({ content: `at ${workspace_path}/a` })).toBe("at /mnt/user-data/workspace/a");
    const message = new ToolMessage({ content: `at ${outputs_path}`, tool_call_id: "c1" });
    expect(await contentOf(message)).toBe("at /mnt/user-data/outputs");
    expect(await contentOf({ content: [{ type: "text", text: outputs_path }, { type: "x" }] })).toEqual([
      { type: "text", text: "/mnt/user-data/outputs" },
      { type: "x" },
    ]);
  });

  test("in messages of a Command, whose other parts are kept", async () => {
    const messages = [new ToolMessage({ content: outputs_path, tool_call_id: "c1" }), new HumanMessage("x")];
    const { result } = await callTool(middleware, request, () => ({
      update: { messages, other: 1 },
      goto: "end",
    }));
    expect(result).toMatchObject({
      update: {
        messages: [{ content: "/mnt/user-data/outputs", tool_call_id: "c1" }, { content: "x" }],
        other: 1,
      },
      goto: "end",
    });
  });

  test("in errors, which stay the same errors", async () => {
    class OwnError extends Error {}
    const error = new OwnError(`ENOENT: ${outputs_path}/gone`);
    const call = callTool(middleware, request, () => Promise.reject(error));
    await expect(call).rejects.toBe(error);
    expect(error.message).toBe("ENOENT: /mnt/user-data/outputs/gone");
  });

  test("a result without any comes back as it is", async () => {
    const result = { content: "plain", artifact: { a: 1 } };
    expect((await callTool(middleware, request, () => result)).result).toBe(result);
  });
});

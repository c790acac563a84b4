import { ToolMessage } from "@langchain/core/messages";
import { describe, expect, test } from "vitest";
import { interrupt } from "../../../actors/interrupt.ts";
import type {
  HookOutcome,
  Middleware,
  ToolCallRequest,
  ToolCallResult,
} from "../../../actors/middleware/define-middleware.ts";
import { type SandboxMiddlewareOptions, sandboxMiddleware } from "../../../actors/middleware/sandbox.ts";
import { probeBubblewrap } from "../../../actors/sandboxes/bubblewrap.ts";
import { localSandboxProvider } from "../../../actors/sandboxes/local.ts";
import type { ThreadFolders } from "../../../actors/sandboxes/sandbox.ts";
import { threadFolders } from "../../../actors/sandboxes/thread-folders.ts";
import { ArtifactsPresented } from "../../../events/artifacts.ts";
import { createThreadReducer } from "../../../reducers/built-in.ts";
import { bindingCases, releaseCases } from "../../cases/sandbox.ts";
import { scriptedProvider } from "../sandboxes/scripted-provider.ts";
import { temporaryStoreFolder } from "../sandboxes/thread-files.ts";
import { callHook, callTool, hookRuntime, hookState, toolRequest } from "./hook-bench.ts";

const reducer = createThreadReducer();
const bound = (id: string | null) => (id === null ? {} : { sandbox: { sandbox_id: id } });
const needsBox = async (request: ToolCallRequest): Promise<ToolCallResult> => {
  const box = await request.runtime.sandbox?.();
  return { content: `in ${box?.id}` };
};
const eventsOf = (result: ToolCallResult | HookOutcome | undefined) =>
  ((result as { events?: readonly { type: string; data: unknown }[] } | undefined)?.events ?? []).map(
    ({ type, data }) => ({ type, data }),
  );
const release = (middleware: Middleware, fields: Record<string, unknown>, threadId = "t") =>
  callHook(middleware.release as never, hookState([], fields), hookRuntime({ threadId }));

function folded(fields: Record<string, unknown>, events: readonly { type: string; data: unknown }[]) {
  return reducer.fold(
    events.map((draft, index) => ({ ...draft, version: index + 1 })),
    fields,
  ).sandbox;
}

describe("when a run begins", () => {
  for (const { id, what, lazy, bound: before, threadId, binds, acquired } of bindingCases) {
    test(`${id}: ${what}`, async () => {
      const provider = scriptedProvider({ ids: ["s1"] });
      const middleware = sandboxMiddleware({ provider, lazy });
      const outcome = await callHook(
        middleware.beforeAgent,
        hookState([], bound(before)),
        hookRuntime({ threadId }),
      );
      expect(eventsOf(outcome)).toEqual(
        binds === null ? [] : [{ type: "SandboxBound", data: { sandbox_id: binds } }],
      );
      expect(provider.acquired).toEqual(acquired);
    });
  }

  test("eager: the sandbox is there before the first model call", async () => {
    const middleware = sandboxMiddleware({ provider: scriptedProvider({ ids: ["s1"] }), lazy: false });
    const outcome = await callHook(middleware.beforeAgent, hookState([]));
    expect(eventsOf(outcome)).toEqual([{ type: "SandboxBound", data: { sandbox_id: "s1" } }]);
  });

  test("lazy is the default", async () => {
    const provider = scriptedProvider({ ids: ["s1"] });
    await callHook(sandboxMiddleware({ provider }).beforeAgent, hookState([]));
    expect(provider.acquired).toEqual([]);
  });
});

describe("when a tool needs it", () => {
  test("SBX-05: the first result that needed it carries the binding", async () => {
    const middleware = sandboxMiddleware({ provider: scriptedProvider({ ids: ["s1"] }) });
    const { result } = await callTool(middleware, toolRequest({ name: "bash" }), needsBox);
    expect(result).toMatchObject({ content: "in s1" });
    expect(eventsOf(result)).toEqual([{ type: "SandboxBound", data: { sandbox_id: "s1" } }]);
  });

  test("a tool message keeps its content, status, artifact and extra data", async () => {
    const middleware = sandboxMiddleware({ provider: scriptedProvider({ ids: ["s1"] }) });
    const parts = {
      content: "out",
      status: "error",
      artifact: { a: 1 },
      additional_kwargs: { k: 1 },
    } as const;
    const { result } = await callTool(middleware, toolRequest({ name: "bash" }), async (request) => {
      await needsBox(request);
      return new ToolMessage({ ...parts, tool_call_id: "c1" });
    });
    expect(result).toMatchObject({ ...parts, events: [{ type: "SandboxBound" }] });
  });

  test("SBX-08: a Command keeps its update and its jump", async () => {
    const middleware = sandboxMiddleware({ provider: scriptedProvider({ ids: ["s1"] }) });
    const messages = [new ToolMessage({ content: "done", tool_call_id: "c1" })];
    const { result } = await callTool(middleware, toolRequest({ name: "bash" }), async (request) => {
      await needsBox(request);
      return { update: { artifacts: ["a"], messages }, goto: "x" };
    });
    expect(result).toMatchObject({ content: "done", update: { artifacts: ["a"] }, goto: "x" });
    expect(eventsOf(result)).toEqual([{ type: "SandboxBound", data: { sandbox_id: "s1" } }]);
  });

  test("the binding stands before the tool's own events", async () => {
    const middleware = sandboxMiddleware({ provider: scriptedProvider({ ids: ["s1"] }) });
    const { result } = await callTool(middleware, toolRequest({ name: "bash" }), async (request) => {
      await needsBox(request);
      return { content: "", events: [ArtifactsPresented({ paths: ["a"] })] };
    });
    expect(eventsOf(result).map(({ type }) => type)).toEqual(["SandboxBound", "ArtifactsPresented"]);
  });

  test("a tool that needs none, and one whose box is bound already, record nothing", async () => {
    const provider = scriptedProvider({ ids: ["s1"] });
    const middleware = sandboxMiddleware({ provider });
    const plain = { content: "plain" };
    expect((await callTool(middleware, toolRequest({ name: "add" }), () => plain)).result).toBe(plain);
    await callTool(middleware, toolRequest({ name: "bash" }), needsBox);
    const again = await callTool(
      middleware,
      toolRequest({ name: "bash" }, { fields: bound("s1") }),
      needsBox,
    );
    expect(eventsOf(again.result)).toEqual([]);
    expect(provider.acquired).toEqual(["t"]);
  });

  test("a box of this thread that is still alive is used without asking for another", async () => {
    const provider = scriptedProvider({ ids: [] });
    provider.place("s1", "t");
    const request = toolRequest({ name: "bash" }, { fields: bound("s1") });
    expect((await callTool(sandboxMiddleware({ provider }), request, needsBox)).result).toEqual({
      content: "in s1",
    });
  });

  test("parallel tools share one flight and one box, and their equal bindings fold", async () => {
    let open = () => {};
    const gate = new Promise<void>((resolve) => {
      open = resolve;
    });
    const provider = scriptedProvider({ ids: ["s1", "s2"], before: () => gate });
    const middleware = sandboxMiddleware({ provider });
    const calls = ["c1", "c2", "c3"].map((id) =>
      callTool(middleware, toolRequest({ name: "bash", id }), needsBox),
    );
    open();
    const events = (await Promise.all(calls)).flatMap(({ result }) => eventsOf(result));
    expect(events).toHaveLength(3);
    expect(provider.acquired).toEqual(["t"]);
    expect(folded({}, events)).toEqual({ sandbox_id: "s1" });
  });

  test("threads never share a box", async () => {
    const middleware = sandboxMiddleware({ provider: scriptedProvider({ ids: ["s1", "s2"] }) });
    const ofThread = (threadId: string) =>
      callTool(middleware, toolRequest({ name: "bash" }, { threadId }), needsBox);
    const results = await Promise.all([ofThread("t1"), ofThread("t2"), ofThread("t1")]);
    expect(results.map(({ result }) => (result as { content: string }).content)).toEqual([
      "in s1",
      "in s2",
      "in s1",
    ]);
  });

  test("a provider that fails fails the call, and the next call tries again", async () => {
    let tries = 0;
    const provider = scriptedProvider({
      ids: ["s1"],
      before: async () => {
        tries += 1;
        if (tries === 1) throw new Error("no machine is free");
      },
    });
    const middleware = sandboxMiddleware({ provider });
    await expect(callTool(middleware, toolRequest({ name: "bash" }), needsBox)).rejects.toThrow(
      "no machine is free",
    );
    expect((await callTool(middleware, toolRequest({ name: "bash" }), needsBox)).result).toMatchObject({
      content: "in s1",
    });
  });

  test("a question to a human comes through as it is", async () => {
    const middleware = sandboxMiddleware({ provider: scriptedProvider({ ids: ["s1"] }) });
    const question = interrupt("approval", {});
    const { result } = await callTool(middleware, toolRequest({ name: "bash" }), async (request) => {
      await needsBox(request);
      return question;
    });
    expect(result).toBe(question);
  });

  test("two different boxes for one thread are refused", () => {
    expect(() => folded(bound("s1"), [{ type: "SandboxBound", data: { sandbox_id: "s2" } }])).toThrow(
      /s1.*s2/,
    );
  });
});

describe("a lost box", () => {
  test("SBX-14: (wanted) the new box is recorded and given back, not the dead one", async () => {
    const provider = scriptedProvider({ ids: ["B"] });
    const middleware = sandboxMiddleware({ provider });
    const { result } = await callTool(
      middleware,
      toolRequest({ name: "bash" }, { fields: bound("A") }),
      needsBox,
    );
    expect(eventsOf(result)).toEqual([{ type: "SandboxRebound", data: { sandbox_id: "B", previous: "A" } }]);
    expect(folded(bound("A"), eventsOf(result))).toEqual({ sandbox_id: "B" });
    await release(middleware, bound("B"));
    expect(provider.released).toEqual(["B"]);
  });

  test("a box that is lost in the middle of a run is replaced once for all tools that run at once", async () => {
    const provider = scriptedProvider({ ids: ["A", "B", "C"] });
    const middleware = sandboxMiddleware({ provider });
    await callTool(middleware, toolRequest({ name: "bash" }), needsBox);
    provider.lose("A");
    const calls = ["c2", "c3"].map((id) =>
      callTool(middleware, toolRequest({ name: "bash", id }, { fields: bound("A") }), needsBox),
    );
    const events = (await Promise.all(calls)).flatMap(({ result }) => eventsOf(result));
    expect(events.map(({ type }) => type)).toEqual(["SandboxRebound", "SandboxRebound"]);
    expect(folded(bound("A"), events)).toEqual({ sandbox_id: "B" });
  });

  test("a fork gets a box of its own in place of the one it inherited", async () => {
    const provider = scriptedProvider({ ids: ["mine"] });
    provider.place("theirs", "parent");
    const request = toolRequest({ name: "bash" }, { threadId: "fork", fields: bound("theirs") });
    const { result } = await callTool(sandboxMiddleware({ provider }), request, needsBox);
    expect(eventsOf(result)).toEqual([
      { type: "SandboxRebound", data: { sandbox_id: "mine", previous: "theirs" } },
    ]);
    expect(await provider.get("theirs")).toBeDefined();
  });
});

describe("after a run, however it ended", () => {
  for (const { id, what, bound: before, owner, released } of releaseCases) {
    test(`${id}: ${what} goes back, and the id stays`, async () => {
      const provider = scriptedProvider({ ids: [] });
      if (before) provider.place(before, owner);
      const outcome = await release(sandboxMiddleware({ provider }), bound(before));
      expect(provider.released).toEqual(released);
      expect(eventsOf(outcome)).toEqual(
        released.map((sandbox_id) => ({ type: "SandboxReleased", data: { sandbox_id } })),
      );
      expect(folded(bound(before), eventsOf(outcome))).toEqual(bound(before).sandbox);
    });
  }

  test("a box whose call never gave a result is recorded and given back", async () => {
    const provider = scriptedProvider({ ids: ["s1"] });
    const middleware = sandboxMiddleware({ provider });
    const failing = callTool(middleware, toolRequest({ name: "bash" }), async (request) => {
      await needsBox(request);
      throw new Error("cancelled");
    });
    await expect(failing).rejects.toThrow("cancelled");
    expect(eventsOf(await release(middleware, {}))).toEqual([
      { type: "SandboxBound", data: { sandbox_id: "s1" } },
      { type: "SandboxReleased", data: { sandbox_id: "s1" } },
    ]);
  });

  test("it goes back once", async () => {
    const provider = scriptedProvider({ ids: ["s1"] });
    const middleware = sandboxMiddleware({ provider });
    await callTool(middleware, toolRequest({ name: "bash" }), needsBox);
    await release(middleware, bound("s1"));
    expect(await release(middleware, bound("s1"))).toBeUndefined();
    expect(provider.released).toEqual(["s1"]);
  });

  test("a borrowed box is used and recorded, and stays with its owner", async () => {
    const provider = scriptedProvider({ ids: [] });
    const parents = provider.place("s1", "parent");
    const middleware = sandboxMiddleware({ provider, borrow: () => parents });
    const request = toolRequest({ name: "bash" }, { threadId: "child" });
    for (const id of ["s1", "s1"]) {
      const { result } = await callTool(middleware, request, needsBox);
      expect(eventsOf(result)).toEqual([{ type: "SandboxBound", data: { sandbox_id: id } }]);
    }
    expect(await release(middleware, bound("s1"), "child")).toBeUndefined();
    expect(provider.released).toEqual([]);
  });
});

describe("options", () => {
  const foldersGivenBy = async (options: SandboxMiddlewareOptions, folder: string) => {
    const provider = localSandboxProvider();
    const asked: ThreadFolders[] = [];
    const acquire: typeof provider.acquire = (request) => {
      asked.push(request.folders);
      return provider.acquire(request);
    };
    const spied = { ...provider, acquire };
    const middleware = sandboxMiddleware({ ...options, provider: () => spied });
    await callTool(middleware, toolRequest({ name: "bash" }, { folder }), needsBox);
    await provider.close();
    return asked[0];
  };

  test("folders lie below the store, or where the option says; the provider may be made on first use", async () => {
    const folder = await temporaryStoreFolder();
    expect(await foldersGivenBy({}, folder)).toEqual(threadFolders({ folder, threadId: "t" }));
    const other = threadFolders({ folder, threadId: "other" });
    expect(await foldersGivenBy({ folders: () => other }, folder)).toEqual(other);
  });

  test("without a provider, commands are isolated where that works", async () => {
    const folder = await temporaryStoreFolder();
    const { result } = await callTool(
      sandboxMiddleware(),
      toolRequest({ name: "bash" }, { folder }),
      async (request) => {
        const box = await request.runtime.sandbox?.();
        return { content: String(box?.isolated) };
      },
    );
    expect(result).toMatchObject({ content: String((await probeBubblewrap()).works) });
  });
});

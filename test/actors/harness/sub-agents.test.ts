import { readFile } from "node:fs/promises";
import { join } from "node:path";
import type { AIMessage } from "@langchain/core/messages";
import { describe, expect, it, onTestFinished } from "vitest";
import { childAgents, sharedWorkplace } from "../../../actors/child-agents.ts";
import { createAgent } from "../../../actors/create-agent.ts";
import { deferred } from "../../../actors/deferred.ts";
import { humanApprovalMiddleware } from "../../../actors/middleware/human-approval.ts";
import { sandboxMiddleware } from "../../../actors/middleware/sandbox.ts";
import { threadDataMiddleware } from "../../../actors/middleware/thread-data.ts";
import { localSandboxProvider } from "../../../actors/sandboxes/local.ts";
import type { SandboxProvider } from "../../../actors/sandboxes/sandbox.ts";
import { threadFolders } from "../../../actors/sandboxes/thread-folders.ts";
import { fileTools } from "../../../actors/tools/file-tools.ts";
import { childThreadId } from "../../../actors/tools/task.ts";
import type { Message } from "../../../events/message.ts";
import { openStore } from "../../../events/open-store.ts";
import type { Store } from "../../../events/store.ts";
import { crashingStore } from "../crashing-store.ts";
import { dataOf, typesOf } from "../recorded-events.ts";
import { ScriptedModel } from "../scripted-model.ts";
import { callsTools } from "../simple-tools.ts";

type Answers = ConstructorParameters<typeof ScriptedModel>[0]["answers"];

function countingProvider(): SandboxProvider & { readonly calls: string[] } {
  const inner = localSandboxProvider();
  const calls: string[] = [];
  return {
    ...inner,
    calls,
    acquire(request) {
      calls.push(`acquire ${request.threadId}`);
      return inner.acquire(request);
    },
    release(id) {
      calls.push("release");
      return inner.release(id);
    },
  };
}

/** A parent and a child on one store, as one process has them. */
function family(
  store: Store,
  options: { parent: Answers; child: Answers; approve?: boolean; recovery?: "continue" },
) {
  const provider = countingProvider();
  const workplace = sharedWorkplace();
  const { folders, borrow } = workplace;
  const childModel = new ScriptedModel({ answers: options.child });
  const child = createAgent({
    name: "worker",
    recovery: "continue",
    model: childModel,
    store,
    tools: fileTools(),
    middleware: [
      threadDataMiddleware({ folders }),
      sandboxMiddleware({ provider, folders, borrow }),
      ...(options.approve ? [humanApprovalMiddleware({ interruptOn: { write_file: true } })] : []),
    ],
  });
  const parentModel = new ScriptedModel({ answers: options.parent });
  const parent = createAgent({
    model: parentModel,
    store,
    preset: "harness",
    ...(options.recovery ? { recovery: options.recovery } : {}),
    harness: {
      sandbox: { provider },
      subAgents: {
        agents: { worker: { description: "writes files" } },
        runChild: childAgents({ agents: { worker: child }, workplace }),
      },
    },
  });
  return { parent, child, parentModel, childModel, provider };
}

const task = (id: string): readonly [string, Record<string, unknown>, string] => [
  "task",
  { description: "write", prompt: `Write ${id}.txt`, subagent_type: "worker" },
  id,
];

/** A child that writes the file that its prompt names, and says so. */
const writer: Answers = (messages) => {
  const name = /Write (\S+)/.exec(messages[0]?.text ?? "")?.[1] ?? "none";
  return messages.length === 1
    ? callsTools(["write_file", { path: `/mnt/user-data/workspace/${name}`, content: name }, "write"])
    : `${name} is written.`;
};

const results = (state: { readonly [field: string]: unknown }) =>
  (state.messages as Message[]).filter(({ type }) => type === "tool").map(({ content }) => content);

async function memory(): Promise<Store> {
  const store = await openStore("memory:");
  onTestFinished(() => store.close());
  return store;
}

describe("sub-agents", () => {
  it("work in threads of their own, in their parent's folders and sandbox", async () => {
    const store = await memory();
    const { parent, child, provider } = family(store, {
      parent: [
        callsTools(task("a"), task("b")),
        callsTools(["ls", { path: "/mnt/user-data/workspace" }, "ls"]),
        "done",
      ],
      child: writer,
    });
    const thread = parent.thread("p");
    const run = thread.run("write two files");
    const told: string[] = [];
    for await (const item of run) if (item.kind === "custom") told.push((item.data as { type: string }).type);
    const result = await run.result;
    expect(result.status).toBe("completed");
    expect(results(result.state).slice(0, 2)).toEqual(["a.txt is written.", "b.txt is written."]);
    expect(results(result.state)[2]).toContain("a.txt");
    const { workspace_path } = threadFolders({ folder: store.folder, threadId: "p" });
    expect(await readFile(join(workspace_path, "b.txt"), "utf8")).toBe("b.txt");

    expect(provider.calls).toEqual(["acquire p", "release"]);
    expect(told.filter((type) => type === "task_started")).toHaveLength(2);
    expect(told.at(-1)).toBe("task_completed");

    const ids = ["a", "b"].map((call) => childThreadId("p", call));
    // Which of the two was recorded first is left to the store.
    const delegations = result.state.delegations as { readonly id: string }[];
    expect([...delegations].sort((a, b) => (a.id < b.id ? -1 : 1))).toMatchObject([
      { id: "a", status: "completed", thread_id: ids[0] },
      { id: "b", status: "completed", thread_id: ids[1] },
    ]);
    const [started] = await dataOf(child.thread(ids[0]), "RunStarted");
    expect(started).toMatchObject({ parent: { threadId: "p", runId: result.runId, callId: "a" } });
    // The child's four messages are in its thread only.
    expect(((await child.thread(ids[0]).state()).messages as Message[]).map(({ type }) => type)).toEqual([
      "human",
      "ai",
      "tool",
      "ai",
    ]);
    const parentTypes = await typesOf(thread);
    expect(parentTypes.filter((type) => type === "ModelResponded")).toHaveLength(3);
    expect(await typesOf(child.thread(ids[0]))).not.toContain("SandboxReleased");
  });

  it("a restart takes the result of a child that has finished, and never runs it again", async () => {
    const store = await memory();
    const parentAnswers: Answers = (messages) =>
      messages.some((message) => message.getType() === "tool") ? "done" : callsTools(task("a"));
    const runs = async (appends: number) => {
      const inner = await memory();
      const dying = crashingStore(inner, appends);
      const first = family(dying, { parent: parentAnswers, child: writer });
      first.parent.thread("p").run("go");
      await dying.crashed;
      const second = family(inner, { parent: parentAnswers, child: writer, recovery: "continue" });
      const run = await second.parent.thread("p").openRun();
      return { first, second, result: await run?.result };
    };
    // How many appends parent and child make together, when nothing goes wrong.
    let appends = 0;
    const counting: Store = {
      ...store,
      log: {
        ...store.log,
        append: (...given) => {
          appends += 1;
          return store.log.append(...given);
        },
      },
    };
    await family(counting, { parent: parentAnswers, child: writer }).parent.thread("p").run("go").result;
    for (let after = 4; after < appends; after++) {
      const { first, second, result } = await runs(after);
      expect(result?.status, `after ${after}`).toBe("completed");
      expect(results(result?.state ?? {}), `after ${after}`).toEqual(["a.txt is written."]);
      const answered = await typesOf(second.child.thread(childThreadId("p", "a")));
      expect(
        answered.filter((type) => type === "ModelResponded"),
        `after ${after}`,
      ).toHaveLength(2);
      expect(first.childModel.calls.length + second.childModel.calls.length).toBeLessThanOrEqual(3);
    }
  });

  it("a cancel of the parent cancels the child and waits for it", async () => {
    const store = await memory();
    const begun = deferred<void>();
    const { parent, child } = family(store, {
      parent: [callsTools(task("a")), "done"],
      child: (_messages, { signal }) =>
        new Promise<AIMessage>((_resolve, reject) => {
          const end = () => reject(new Error("aborted"));
          (signal as AbortSignal).addEventListener("abort", end);
          begun.resolve();
        }),
    });
    const thread = parent.thread("p");
    const run = thread.run("go");
    await begun.promise;
    await run.cancel("enough");
    expect((await run.result).status).toBe("cancelled");
    expect(await child.thread(childThreadId("p", "a")).info()).toMatchObject({ status: "cancelled" });
  });

  it("what a child asks a human goes up to the parent, and the answer down to the child", async () => {
    const store = await memory();
    const { parent, childModel } = family(store, {
      parent: [callsTools(task("a")), "done"],
      child: writer,
      approve: true,
    });
    const thread = parent.thread("p");
    const asked = await thread.run("go").result;
    expect(asked.interrupts).toMatchObject([
      { kind: "approval", callId: "a", value: { actionRequests: [{ name: "write_file" }] } },
    ]);
    const done = await thread.resume({ all: { type: "approve" } }).result;
    expect(done.status).toBe("completed");
    expect(results(done.state)).toEqual(["a.txt is written."]);
    expect(childModel.calls).toHaveLength(2);
  });

  it("not more than six in a run: the seventh is cut, and the end of the run says why", async () => {
    const store = await memory();
    const turns = [["a", "b", "c"], ["d", "e", "f"], ["g"]].map((ids) => callsTools(...ids.map(task)));
    const { parent } = family(store, { parent: turns, child: ["ok"] });
    const result = await parent.thread("p").run("go").result;
    expect(result).toMatchObject({ status: "completed", stopReason: "subagent_limit_capped" });
    expect(results(result.state)).toHaveLength(6);
  });
});

import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { z } from "zod";
import { createAgent } from "../../../actors/create-agent.ts";
import { artifactsMiddleware } from "../../../actors/middleware/artifacts.ts";
import { titleMiddleware } from "../../../actors/middleware/title.ts";
import { defineTool } from "../../../actors/tools/define-tool.ts";
import { ArtifactsPresented } from "../../../events/artifacts.ts";
import { openStore } from "../../../events/open-store.ts";
import { TitleSet } from "../../../events/title.ts";
import { dyingStore } from "../../../testing/faults/dying-store.ts";
import { intrudingStore } from "../../../testing/faults/intruding-store.ts";
import { threadProblems } from "../../../testing/faults/thread-problems.ts";
import { ScriptedModel } from "../../actors/scripted-model.ts";
import { callsTools } from "../../actors/simple-tools.ts";

/** A tool that may run again after a crash. */
const present = defineTool({
  name: "present",
  description: "presents a file",
  schema: z.object({ path: z.string() }),
  idempotent: true,
  run: ({ path }) => ({ content: `presented ${path}`, events: [ArtifactsPresented({ paths: [path] })] }),
});

const model = () =>
  new ScriptedModel({
    answers: (messages) =>
      messages.at(-1)?.getType() === "human"
        ? callsTools(["present", { path: "/a" }, "c0"], ["present", { path: "/b" }, "c1"])
        : "finished",
  });

function options(store: Awaited<ReturnType<typeof openStore>>) {
  return { model: model(), tools: [present], middleware: [artifactsMiddleware(), titleMiddleware()], store };
}

interface Said {
  readonly type: string;
  readonly content: unknown;
}

function transcript(messages: unknown): string[] {
  return (messages as readonly Said[]).map(({ type, content }) => `${type} ${content}`);
}

/** What the run comes to when nobody dies, and how many writes it takes. */
async function undisturbed() {
  const store = dyingStore(await openStore("memory:"), { at: Number.POSITIVE_INFINITY, effect: "kept" });
  const { state } = await createAgent(options(store)).thread("t").run("go").result;
  return { state, writes: store.writes };
}

describe("a process that dies at any of its writes", () => {
  test("and is opened again to close what was open: the thread is sound and goes on", async () => {
    const { writes } = await undisturbed();
    await fc.assert(
      fc.asyncProperty(
        fc.integer({ min: 1, max: writes }),
        fc.constantFrom("kept" as const, "lost" as const),
        async (at, effect) => {
          const store = await openStore("memory:");
          const dying = dyingStore(store, { at, effect });
          const run = createAgent(options(dying)).thread("t").run("go");
          await Promise.race([dying.dead, run.result]);
          const agent = createAgent(options(store));
          const thread = agent.thread("t");
          const again = await thread.run("again").result;
          expect(again.status).toBe("completed");
          expect(await threadProblems(store, agent, "t", again.state)).toEqual([]);
        },
      ),
      { numRuns: 40 },
    );
  });

  test("and is opened again to go on: it comes to the same as if nobody had died", async () => {
    const { state: expected, writes } = await undisturbed();
    let continued = 0;
    for (let at = 1; at <= writes; at++) {
      for (const effect of ["kept", "lost"] as const) {
        const store = await openStore("memory:");
        const dying = dyingStore(store, { at, effect });
        const first = createAgent(options(dying)).thread("t").run("go");
        await Promise.race([dying.dead, first.result]);
        const agent = createAgent({ ...options(store), recovery: "continue" });
        const thread = agent.thread("t");
        const run = await thread.openRun();
        await run?.result;
        const state = await thread.state();
        const began = ((state.messages ?? []) as readonly unknown[]).length > 0;
        if (!began) continue;
        continued += run ? 1 : 0;
        expect(await threadProblems(store, agent, "t", state), `write ${at} ${effect}`).toEqual([]);
        expect(transcript(state.messages)).toEqual(transcript(expected.messages));
        expect(new Set(state.artifacts as string[])).toEqual(new Set(expected.artifacts as string[]));
        expect(state.title).toBe(expected.title);
      }
    }
    process.stdout.write(`crashes: ${writes} writes, ${2 * writes} deaths, ${continued} runs continued\n`);
    expect(continued).toBeGreaterThan(writes / 2);
  });
});

describe("another program that writes just before any append", () => {
  test("the run ends once, and what the other wrote stays", async () => {
    const { writes } = await undisturbed();
    for (let at = 1; at <= writes; at++) {
      const store = await openStore("memory:");
      const draft = TitleSet({ title: "theirs", origin: "user" });
      const agent = createAgent(options(intrudingStore(store, { at, draft })));
      const thread = agent.thread("t");
      await thread.run("go").result.catch(() => undefined);
      const reader = createAgent(options(store));
      const state = await reader.thread("t").state();
      const problems = await threadProblems(store, reader, "t", state);
      expect(problems, `append ${at}`).toEqual([]);
      const events: string[] = [];
      for await (const page of store.log.read("thread-t"))
        events.push(...page.map(({ data }) => JSON.stringify(data)));
      const intruded = events.some((data) => data.includes("theirs"));
      if (intruded) expect(state.title).toBe("theirs");
    }
  });
});

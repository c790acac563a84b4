import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { z } from "zod";
import { createAgent } from "../../../actors/create-agent.ts";
import { interrupt } from "../../../actors/interrupt.ts";
import { defineTool } from "../../../actors/tools/define-tool.ts";
import { openStore } from "../../../events/open-store.ts";
import { scheduledStore } from "../../../testing/faults/scheduled-store.ts";
import { threadProblems } from "../../../testing/faults/thread-problems.ts";
import { ScriptedModel } from "../../actors/scripted-model.ts";
import { callsTools } from "../../actors/simple-tools.ts";

const runs = { numRuns: 40 };

/** A tool that ends when the scheduler lets it. */
function scheduledTool(scheduler: fc.Scheduler, ran: string[]) {
  return defineTool({
    name: "work",
    description: "works",
    schema: z.object({}),
    async run(_args, { callId }) {
      ran.push(callId);
      await scheduler.schedule(Promise.resolve(), `tool ${callId}`);
      return `done ${callId}`;
    },
  });
}

const threeCalls = callsTools(["work", {}, "c0"], ["work", {}, "c1"], ["work", {}, "c2"]);

/** Answers as a model would, from what it sees. */
const model = () =>
  new ScriptedModel({
    answers: (messages) => (messages.at(-1)?.getType() === "human" ? threeCalls : "finished"),
  });

describe("in whatever order things happen", () => {
  test("parallel tools: the conversation is the same, and each call runs once", async () => {
    await fc.assert(
      fc.asyncProperty(fc.scheduler(), async (scheduler) => {
        const store = await openStore("memory:");
        const ran: string[] = [];
        const agent = createAgent({
          model: model(),
          tools: [scheduledTool(scheduler, ran)],
          store: scheduledStore(store, scheduler),
        });
        const { status, state } = await scheduler.waitFor(agent.thread("t").run("go").result);
        expect(status).toBe("completed");
        expect(ran.toSorted()).toEqual(["c0", "c1", "c2"]);
        const messages = state.messages as readonly { type: string; content: unknown }[];
        expect(messages.map(({ type, content }) => `${type} ${content}`)).toEqual([
          "human go",
          "ai ",
          "tool done c0",
          "tool done c1",
          "tool done c2",
          "ai finished",
        ]);
        expect(await threadProblems(store, agent, "t", state)).toEqual([]);
      }),
      runs,
    );
  });

  test("a cancel against the last tool: one end, no call without a result", async () => {
    const endings = new Set<string>();
    await fc.assert(
      fc.asyncProperty(fc.scheduler(), async (scheduler) => {
        const store = await openStore("memory:");
        const agent = createAgent({
          model: model(),
          tools: [scheduledTool(scheduler, [])],
          store: scheduledStore(store, scheduler),
        });
        const run = agent.thread("t").run("go");
        const cancelled = scheduler.schedule(Promise.resolve(), "cancel").then(() => run.cancel("enough"));
        const [{ status, state }] = await scheduler.waitFor(Promise.all([run.result, cancelled]));
        endings.add(status);
        expect(await threadProblems(store, agent, "t", state)).toEqual([]);
      }),
      { numRuns: 60 },
    );
    expect(endings.has("cancelled")).toBe(true);
    for (const status of endings) expect(["cancelled", "completed"]).toContain(status);
  });

  test("two answers to one question: one is taken, the other is told, the call is made once", async () => {
    await fc.assert(
      fc.asyncProperty(fc.scheduler(), async (scheduler) => {
        const store = await openStore("memory:");
        const made: unknown[] = [];
        const ask = defineTool({
          name: "ask",
          description: "asks",
          schema: z.object({}),
          run: () => interrupt("approval", null),
          onAnswer: (answer) => {
            made.push(answer);
            return String(answer);
          },
        });
        const asking = new ScriptedModel({ answers: [callsTools(["ask", {}, "c0"]), "finished"] });
        const agent = createAgent({ model: asking, tools: [ask], store: scheduledStore(store, scheduler) });
        const thread = agent.thread("t");
        await scheduler.waitFor(thread.run("go").result);
        const answer = (text: string) =>
          scheduler
            .schedule(Promise.resolve(), `answer ${text}`)
            .then(() => thread.resume({ all: text }).result)
            .then(
              ({ status }) => status,
              (error: Error) => error.name,
            );
        const outcomes = await scheduler.waitFor(Promise.all([answer("yes"), answer("no")]));
        expect(outcomes.filter((outcome) => outcome === "completed")).toHaveLength(1);
        expect(made).toHaveLength(1);
        expect(await threadProblems(store, agent, "t", await thread.state())).toEqual([]);
      }),
      runs,
    );
  });

  test("two processes on one thread: every run that began has one end, and nothing is lost", async () => {
    await fc.assert(
      fc.asyncProperty(fc.scheduler(), async (scheduler) => {
        const store = await openStore("memory:");
        const agents = ["one", "two"].map((name) =>
          createAgent({
            name,
            model: new ScriptedModel({ answers: [name] }),
            store: scheduledStore(store, scheduler),
          }),
        );
        const results = agents.map((agent) =>
          agent
            .thread("t")
            .run(agent.name)
            .result.then(
              ({ status }) => status,
              (error: Error) => error.name,
            ),
        );
        const outcomes = await scheduler.waitFor(Promise.all(results));
        expect(outcomes).toContain("completed");
        for (const outcome of outcomes)
          expect(["completed", "ThreadBusyError", "VersionConflict"]).toContain(outcome);
        const reader = createAgent({ model: model(), store });
        const state = await reader.thread("t").state();
        expect(await threadProblems(store, reader, "t", state)).toEqual([]);
        const said = (state.messages as readonly { type: string }[]).filter(({ type }) => type === "human");
        expect(said).toHaveLength(outcomes.filter((outcome) => outcome === "completed").length);
      }),
      runs,
    );
  });
});

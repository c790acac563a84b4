import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { builtPackage } from "../build.ts";
import { cheapest, runChild, type ScriptRun } from "../run-child.ts";
import { peersInstalled } from "../sides/langgraph-packages.ts";
import { type SideName, sideNames } from "../sides/open-side.ts";
import { threadIdIn } from "../work.ts";
import { type BenchOptions, type Measured, milliseconds, type Ratio } from "./table.ts";

const rounds = 5;

interface Start extends ScriptRun {
  /** Milliseconds by the wall of the part after the imports. */
  readonly read: number;
}

async function best(script: string, expected: number): Promise<Start> {
  const run = await cheapest(script, rounds);
  const { messages, read } = JSON.parse(run.stdout) as { messages: number; read: number };
  if (messages !== expected)
    throw new Error(`The new process read ${messages} messages instead of ${expected}.`);
  return { ...run, read };
}

const report = "console.log(JSON.stringify({ messages, read: performance.now() - begun }));";

/** Opens the store and reads the state by what a program would use: a store and a reader, no model. */
function ownScript(dist: URL, folder: string): string {
  return `
    import { createThreadReducer, createEventRegistry, createStateReader, openStore } from ${JSON.stringify(new URL("index.js", dist).href)};
    const begun = performance.now();
    const store = await openStore(${JSON.stringify(`sqlite:${join(folder, "threads.db")}`)});
    const reader = createStateReader({ ...store, reducer: createThreadReducer(), registry: createEventRegistry() });
    const { messages: { length: messages } } = await reader.stateAt(${JSON.stringify(threadIdIn(folder, 0))});
    ${report}
    await store.close();`;
}

/** As \`langgraph-sqlite\` of the bench opens it: their state is read through an agent. */
function theirScript(folder: string): string {
  return `
    import { BaseChatModel, langchain, sqlite } from ${JSON.stringify(new URL("../peers/load-sqlite.js", import.meta.url).href)};
    const begun = performance.now();
    const checkpointer = sqlite.SqliteSaver.fromConnString(${JSON.stringify(join(folder, "checkpoints.db"))});
    class Model extends BaseChatModel { _llmType() { return "none"; } bindTools() { return this; } }
    const agent = langchain.createAgent({ model: new Model({}), tools: [], checkpointer });
    const { values } = await agent.getState({ configurable: { thread_id: ${JSON.stringify(threadIdIn(folder, 0))} } });
    const messages = values.messages.length;
    ${report}`;
}

/** A new process opens the longest thread of the run and reads its state. */
export async function measureColdStart({ turns, log }: BenchOptions): Promise<Measured> {
  const count = turns.at(-1) ?? 0;
  const dist = await builtPackage();
  const starts = new Map<SideName, Start>();
  const sides: SideName[] = ["threadfold-full", ...(peersInstalled() ? (["langgraph-sqlite"] as const) : [])];
  for (const side of sides) {
    log(`cold start, ${count} turns: ${sideNames[side]}`);
    const folder = await mkdtemp(join(tmpdir(), "threadfold-cold-"));
    await runChild({ side, turns: count, folder });
    const script = side === "threadfold-full" ? ownScript(dist, folder) : theirScript(folder);
    starts.set(side, await best(script, 4 * count));
    await rm(folder, { recursive: true });
  }
  const empty = await cheapest("", rounds);
  const [ours, theirs] = [starts.get("threadfold-full"), starts.get("langgraph-sqlite")];
  const ratio = (what: string, value: number): Ratio => {
    return { name: `${what}, theirs / ours, N = ${count}`, value, target: { atLeast: 10 }, unit: "x" };
  };
  return {
    tables: [
      {
        title: `Cold start: a new process opens the thread of ${count} turns and reads its state (an empty process: ${milliseconds(empty.cpu)} CPU)`,
        head: ["product", "CPU of the process", "wall of the process", "wall after the imports"],
        rows: [...starts].map(([side, { cpu, wall, read }]) => [
          sideNames[side],
          milliseconds(cpu),
          milliseconds(wall),
          milliseconds(read),
        ]),
      },
    ],
    ratios:
      ours && theirs
        ? [
            ratio("cold start, CPU of the process", theirs.cpu / ours.cpu),
            ratio(
              "cold start, CPU above an empty process",
              (theirs.cpu - empty.cpu) / (ours.cpu - empty.cpu),
            ),
          ]
        : [],
    charts: [],
  };
}

import { spawn } from "node:child_process";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { createRequire } from "node:module";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";

/**
 * Both servers in one run with the same scripted model: `tsx bench/server.ts [threadfold] [langgraph]`, after
 * `npm run bench:install`. Prints a table; times are wall times in milliseconds.
 */
const root = fileURLToPath(new URL("..", import.meta.url));
/** Small numbers, to see that it works. */
const isQuick = process.env.BENCH_QUICK === "1";
const turnsAt = isQuick ? [5, 10] : [10, 100, 300];
const clientCounts = isQuick ? [1, 4] : [1, 16, 64];
const turnsPerClient = 4;
const memoryThreads = Number(process.env.BENCH_THREADS ?? (isQuick ? 20 : 1000));
const words = Array.from({ length: 40 }, (_, index) => `word${index}`).join(" ");

interface Side {
  readonly name: string;
  readonly url: string;
  readonly pid: number;
  stop(): Promise<void>;
}

async function startThreadfold(folder: string): Promise<Side> {
  const script = join(folder, "threadfold.mts");
  await writeFile(
    script,
    `import { createAgent } from ${JSON.stringify(join(root, "actors/create-agent.ts"))};
import { startServer } from ${JSON.stringify(join(root, "apps/server/index.ts"))};
import { openStore } from ${JSON.stringify(join(root, "events/open-store.ts"))};
import { ScriptedModel } from ${JSON.stringify(join(root, "test/actors/scripted-model.ts"))};
const store = await openStore(${JSON.stringify(`sqlite:${join(folder, "t.db")}`)});
const agent = createAgent({ model: new ScriptedModel({ answers: () => ${JSON.stringify(words)}, streaming: true }), store });
const server = await startServer({ agents: { agent }, store, port: 0, requestsPerMinute: 1e9, graceMs: 0 });
process.stdout.write("url " + server.url + "\\n");
process.once("SIGTERM", async () => { await server.stop(); await agent.close(); await store.close(); process.exit(0); });
`,
  );
  return startProcess("threadfold", ["--import", "tsx", script], root);
}

async function startLangGraph(folder: string): Promise<Side> {
  const peers = join(root, "bench/peers");
  const require = createRequire(join(peers, "package.json"));
  const at = (name: string) => JSON.stringify(require.resolve(name));
  const script = join(folder, "langgraph.mjs");
  const graph = join(folder, "graph.mjs");
  await writeFile(
    graph,
    `import { StateGraph, MessagesAnnotation } from ${at("@langchain/langgraph")};
import { FakeStreamingChatModel } from ${at("@langchain/core/utils/testing")};
import { AIMessage, AIMessageChunk } from ${at("@langchain/core/messages")};
const words = ${JSON.stringify(words)}.match(/\\S+\\s*/g);
const model = new FakeStreamingChatModel({ sleep: 0, chunks: words.map((content) => new AIMessageChunk({ content })), responses: [new AIMessage(words.join(""))] });
export const agent = new StateGraph(MessagesAnnotation)
  .addNode("model", async ({ messages }) => ({ messages: [await model.invoke(messages)] }))
  .addEdge("__start__", "model").addEdge("model", "__end__").compile();
`,
  );
  await writeFile(
    script,
    `import { startServer } from ${at("@langchain/langgraph-api/server")};
const { host, cleanup } = await startServer({ port: 0, nWorkers: 64, host: "127.0.0.1", cwd: ${JSON.stringify(folder)}, graphs: { agent: ${JSON.stringify(`${graph}:agent`)} } });
process.stdout.write("url http://" + host + "\\n");
process.once("SIGTERM", async () => { await cleanup(); process.exit(0); });
`,
  );
  return startProcess("langgraph-api", [script], folder);
}

async function startProcess(name: string, args: readonly string[], cwd: string): Promise<Side> {
  const child = spawn(process.execPath, args, {
    cwd,
    env: { ...process.env, LOG_LEVEL: "error", LANGSMITH_TRACING: "false" },
  });
  let text = "";
  const url = await new Promise<string>((resolve, reject) => {
    child.stdout.setEncoding("utf8").on("data", (chunk: string) => {
      text += chunk;
      const found = /^url (http\S+)$/m.exec(text)?.[1];
      if (found) resolve(found);
    });
    child.stderr.setEncoding("utf8").on("data", (chunk: string) => {
      text += chunk;
    });
    child.once("exit", (code) => reject(new Error(`${name} ended with ${code}: ${text.slice(-2000)}`)));
  });
  return {
    name,
    url,
    pid: child.pid ?? 0,
    async stop() {
      const gone = new Promise((resolve) => child.once("exit", resolve));
      child.kill("SIGTERM");
      await gone;
    },
  };
}

async function post(side: Side, path: string, json: unknown): Promise<Response> {
  const answer = await fetch(`${side.url}${path}`, {
    method: "POST",
    headers: { "content-type": "application/json" },
    body: JSON.stringify(json),
  });
  if (!answer.ok) throw new Error(`${side.name} ${path}: ${answer.status} ${await answer.text()}`);
  return answer;
}

async function newThread(side: Side): Promise<string> {
  return ((await (await post(side, "/threads", {})).json()) as { thread_id: string }).thread_id;
}

/** One turn. Gives the milliseconds until its first token. */
async function turn(side: Side, threadId: string, number: number): Promise<number> {
  const begun = performance.now();
  const input = { messages: [{ type: "human", content: `Question ${number}: what changed in the report?` }] };
  const json = { assistant_id: "agent", input, stream_mode: ["messages-tuple"] };
  const { body } = await post(side, `/threads/${threadId}/runs/stream`, json);
  let first = 0;
  const decoder = new TextDecoder();
  for await (const bytes of body as unknown as AsyncIterable<Uint8Array>) {
    if (first === 0 && decoder.decode(bytes).includes("event: messages")) first = performance.now() - begun;
  }
  return first;
}

async function timed(work: () => Promise<unknown>, times: number): Promise<number> {
  const took: number[] = [];
  for (let count = 0; count < times; count++) {
    const begun = performance.now();
    await work();
    took.push(performance.now() - begun);
  }
  return median(took);
}

function median(values: readonly number[]): number {
  return values.toSorted((a, b) => a - b)[values.length >> 1] ?? 0;
}

async function memoryMb({ pid }: Side): Promise<number> {
  const { readFile } = await import("node:fs/promises");
  const status = await readFile(`/proc/${pid}/status`, "utf8");
  return Number(/VmRSS:\s+(\d+)/.exec(status)?.[1] ?? 0) / 1024;
}

/** Rows of one side, told as they come: on a slow machine the whole takes a while. */
class Rows extends Map<string, number> {
  constructor(private readonly side: string) {
    super();
  }
  override set(row: string, value: number): this {
    process.stderr.write(`${this.side}: ${row}: ${value.toFixed(1)}\n`);
    return super.set(row, value);
  }
}

async function measure(side: Side): Promise<Map<string, number>> {
  const table = new Rows(side.name);
  const warm = await newThread(side);
  for (let number = 0; number < 5; number++) await turn(side, warm, number);
  for (const clients of clientCounts) {
    const threads = await Promise.all(Array.from({ length: clients }, () => newThread(side)));
    const begun = performance.now();
    const firsts = await Promise.all(
      threads.map(async (id) => {
        const tokens: number[] = [];
        for (let number = 0; number < turnsPerClient; number++) tokens.push(await turn(side, id, number));
        return tokens;
      }),
    );
    const seconds = (performance.now() - begun) / 1000;
    table.set(`turns/s, ${clients} clients`, (clients * turnsPerClient) / seconds);
    table.set(`first token ms, ${clients} clients`, median(firsts.flat()));
  }
  const long = await newThread(side);
  let turns = 0;
  for (const length of turnsAt) {
    const begun = performance.now();
    const from = turns;
    for (; turns < length; turns++) await turn(side, long, turns);
    table.set(`turns/s up to ${length} turns`, (turns - from) / ((performance.now() - begun) / 1000));
    const read = async (path: string, json?: unknown) =>
      (json ? await post(side, path, json) : await fetch(`${side.url}${path}`)).text();
    table.set(`getState ms, ${length} turns`, await timed(() => read(`/threads/${long}/state`), 9));
    table.set(
      `history(10) ms, ${length} turns`,
      await timed(() => read(`/threads/${long}/history`, { limit: 10 }), 9),
    );
  }
  for (let made = 0; made < memoryThreads; made += 20) {
    await Promise.all(
      Array.from({ length: Math.min(20, memoryThreads - made) }, async () =>
        turn(side, await newThread(side), 0),
      ),
    );
  }
  table.set(`memory MB after ${memoryThreads} threads`, await memoryMb(side));
  return table;
}

const wanted = process.argv.slice(2);
const starts = { threadfold: startThreadfold, langgraph: startLangGraph };
const results = new Map<string, Map<string, number>>();
for (const [name, start] of Object.entries(starts)) {
  if (wanted.length > 0 && !wanted.includes(name)) continue;
  const folder = await mkdtemp(join(tmpdir(), "threadfold-bench-"));
  const side = await start(folder);
  try {
    results.set(side.name, await measure(side));
  } finally {
    await side.stop();
    await rm(folder, { recursive: true, force: true });
  }
}
const sides = [...results.keys()];
const rows = [...(results.values().next().value?.keys() ?? [])];
console.log(`| | ${sides.join(" | ")} |\n|---|${sides.map(() => "--:").join("|")}|`);
for (const row of rows) {
  console.log(
    `| ${row} | ${sides.map((side) => results.get(side)?.get(row)?.toFixed(1) ?? "").join(" | ")} |`,
  );
}

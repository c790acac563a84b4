import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { existsSync } from "node:fs";
import { mkdtemp, readFile, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { setTimeout as delay } from "node:timers/promises";
import { createAgent } from "../../actors/create-agent.ts";
import type { RecordedEvent } from "../../events/envelope.ts";
import { findBrokenLink } from "../../events/hash-chain.ts";
import { openStore } from "../../events/open-store.ts";
import type { Store } from "../../events/store.ts";
import { orphanCalls } from "../actors/recorded-events.ts";
import { ScriptedModel } from "../actors/scripted-model.ts";

/** An event of which the child said that it was recorded. */
interface Acknowledged {
  readonly stream: string;
  readonly version: number;
  readonly id: string;
  readonly hash: string;
}

/** What became of a store whose process was killed again and again. */
export interface CrashReport {
  kills: number;
  acknowledged: number;
  events: number;
  /** Tool calls that were under way at a kill, and are recorded as such. */
  unknownOutcomes: number;
  problems: string[];
}

/** Longest time from a child's first word to its end, in milliseconds. */
const maxLifeMs = 120;

const threadIds = ["a", "b", "c"];

async function eventsOf(store: Store, threadId: string): Promise<RecordedEvent[]> {
  const events: RecordedEvent[] = [];
  for await (const page of store.log.read(`thread-${threadId}`)) events.push(...page);
  return events;
}

/** Starts the child, lets it work for a random time, and kills it. */
async function liveAndDie(
  script: string,
  args: readonly string[],
  lifeMs: number,
  onAcknowledged: (event: Acknowledged) => void,
  onProblem: (problem: string) => void,
): Promise<void> {
  const child: ChildProcess = spawn(process.execPath, [script, ...args], {
    stdio: ["ignore", "pipe", "pipe"],
  });
  const exited = once(child, "exit");
  let errors = "";
  child.stderr?.on("data", (data: Buffer) => {
    errors += data;
  });
  if (!child.stdout) throw new Error("The child has no output.");
  const lines = createInterface({ input: child.stdout });
  const closed = once(lines, "close");
  const began = new Promise<void>((resolve) => {
    lines.on("line", (line) => {
      resolve();
      const said = JSON.parse(line) as Acknowledged | { unexpected: string };
      if ("unexpected" in said) onProblem(`the child says: ${line}`);
      else onAcknowledged(said);
    });
  });
  await Promise.race([began, exited]);
  await delay(lifeMs);
  child.kill("SIGKILL");
  const [code] = (await exited) as [number | null];
  await closed;
  if (code !== null) onProblem(`the child ended by itself with code ${code}: ${errors}`);
}

/** Compares the log with what was acknowledged, and with what the tools did. */
async function check(
  url: string,
  sideFile: string,
  acknowledged: readonly Acknowledged[],
  report: CrashReport,
): Promise<void> {
  const store = await openStore(url);
  const ran = existsSync(sideFile) ? (await readFile(sideFile, "utf8")).split("\n").filter(Boolean) : [];
  const twice = ran.filter((line, index) => ran.indexOf(line) !== index);
  if (twice.length > 0) report.problems.push(`ran twice: ${twice.join(", ")}`);
  const ranCalls = new Set(ran);
  const recorded = new Map<string, RecordedEvent>();
  for (const threadId of threadIds) {
    const events = await eventsOf(store, threadId);
    const broken = findBrokenLink(events);
    if (broken) report.problems.push(`the chain is broken: ${JSON.stringify(broken)}`);
    for (const event of events) {
      recorded.set(`${event.stream}@${event.version}`, event);
      const { callId } = event.data as { callId?: string };
      if (event.type === "ToolCallCompleted" && !ranCalls.has(`${threadId} ${callId}`)) {
        report.problems.push(`${callId} is recorded as completed and never ran`);
      }
    }
  }
  for (const { stream, version, id, hash } of acknowledged) {
    const event = recorded.get(`${stream}@${version}`);
    if (event?.id !== id || event.metadata.hash !== hash) {
      report.problems.push(
        `${stream}@${version} was acknowledged as ${id} and is ${event?.id ?? "not there"}`,
      );
    }
  }
  report.events = recorded.size;
  await store.close();
}

/** Opens every thread as the next process would, and looks at what became of the calls that were under way. */
async function checkThreads(url: string, sideFile: string, report: CrashReport): Promise<void> {
  const store = await openStore(url);
  const agent = createAgent({ model: new ScriptedModel({ answers: ["hello"] }), store, whenBusy: "enqueue" });
  const ran = (await readFile(sideFile, "utf8")).split("\n").filter(Boolean);
  for (const threadId of threadIds) {
    const thread = agent.thread(threadId);
    const { status, state } = await thread.run("still there?").result;
    if (status !== "completed") report.problems.push(`thread ${threadId} does not go on: ${status}`);
    const orphans = orphanCalls(state.messages);
    if (orphans.length > 0) report.problems.push(`calls without result: ${orphans.join(", ")}`);
    const ended = new Map<string, string>();
    for (const { type, data } of await eventsOf(store, threadId)) {
      const { callId, reason } = data as { callId?: string; reason?: string };
      if (type === "ToolCallCompleted") ended.set(callId ?? "", "completed");
      if (type === "ToolCallAbandoned") ended.set(callId ?? "", reason ?? "");
    }
    for (const line of ran.filter((one) => one.startsWith(`${threadId} `))) {
      const how = ended.get(line.slice(threadId.length + 1));
      if (how === "outcome unknown") report.unknownOutcomes += 1;
      else if (how !== "completed") report.problems.push(`${line} ran and is recorded as ${how}`);
    }
  }
  await agent.close();
  await store.close();
}

/**
 * Kills a process that works on a store, again and again at random moments, and checks after each kill that nothing
 * that was acknowledged is lost and nothing that was done is done again.
 *
 * @param options.random gives numbers from 0 to 1
 */
export async function crashChain(options: {
  readonly script: string;
  readonly kills: number;
  /** Processes that work on the store at the same time; default 1. */
  readonly writers?: number;
  readonly random: () => number;
}): Promise<CrashReport> {
  const { script, kills, writers = 1, random } = options;
  const folder = await mkdtemp(join(tmpdir(), "crash-"));
  const url = `sqlite:${join(folder, "threads.db")}`;
  const sideFile = join(folder, "done.txt");
  const acknowledged: Acknowledged[] = [];
  const report: CrashReport = { kills: 0, acknowledged: 0, events: 0, unknownOutcomes: 0, problems: [] };
  try {
    for (let kill = 0; kill < kills; kill += writers) {
      const lives = Array.from({ length: writers }, (_, writer) => {
        const policy = (kill + writer) % 2 === 0 ? "close" : "continue";
        return liveAndDie(
          script,
          [url, sideFile, policy],
          random() * maxLifeMs,
          (event) => acknowledged.push(event),
          (problem) => report.problems.push(problem),
        );
      });
      await Promise.all(lives);
      report.kills += writers;
      report.acknowledged = acknowledged.length;
      await check(url, sideFile, acknowledged, report);
    }
    await checkThreads(url, sideFile, report);
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
  return report;
}

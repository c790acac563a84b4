import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import Table from "cli-table3";
import { v7 as uuidv7 } from "uuid";
import type { EventDraft } from "../events/define-event.ts";
import { type NewEvent, threadStream } from "../events/envelope.ts";
import { createEventRegistry } from "../events/event-registry.ts";
import type { Json } from "../events/json.ts";
import type { EventLog } from "../events/log/event-log.ts";
import { openSqlite } from "../events/log/sqlite.ts";
import { briefColumns } from "../events/log/sqlite-brief.ts";
import { loadSqliteDriver } from "../events/log/sqlite-driver.ts";
import { MessagesAdded } from "../events/messages.ts";
import { ModelCallStarted, ModelResponded } from "../events/model.ts";
import { RunCompleted, RunStarted } from "../events/run.ts";
import { ThreadCreated } from "../events/thread.ts";
import { TitleSet } from "../events/title.ts";
import { ToolCallCompleted, ToolCallStarted } from "../events/tool.ts";
import { builtInProjections } from "../projections/built-in.ts";
import { rebuildProjection } from "../projections/rebuild.ts";
import { openSqliteProjectionStore } from "../projections/sqlite-projection-store.ts";
import { threadList } from "../projections/thread-list.ts";

/*
 * Rebuilding the thread list against reading and parsing the same rows with the bare driver. Both sides run in this
 * process, in turn; the best of each counts, by the wall and by CPU. Half of what whole rows cost the driver are columns
 * that a rebuild leaves where they are, so the bare driver reads only the columns of a rebuild, too.
 */
const eventCount = Number(process.argv[2] ?? 1_000_000);
const every = process.argv.includes("--all");
const turnsPerThread = 12;
const threadsAtOnce = 64;
const rounds = 3;
const registry = createEventRegistry();

function turnOf(turn: number): EventDraft[] {
  const callId = uuidv7();
  const runId = uuidv7();
  const call = {
    id: `${callId}-tool`,
    name: "read_file",
    args: { path: `/mnt/user-data/workspace/file-${turn}.md` },
  };
  return [
    RunStarted({ runId, owner: "bench" }),
    MessagesAdded({
      messages: [{ id: uuidv7(), type: "human", content: `Question ${turn} about the report` }],
    }),
    ModelCallStarted({
      callId,
      model: "bench:model",
      view: { version: turn, from: null, edits: [], system: null },
      tools: null,
      requestHash: "0".repeat(64),
    }),
    ModelResponded({
      callId,
      message: { id: uuidv7(), type: "ai", content: "I look into the file first.", tool_calls: [call] },
      usage: { input_tokens: 1200, output_tokens: 40 },
      latencyMs: 640,
    }),
    ToolCallStarted({ callId: call.id, name: "read_file" }),
    ToolCallCompleted({
      callId: call.id,
      message: {
        id: uuidv7(),
        type: "tool",
        content: "a line of the file. ".repeat(10),
        tool_call_id: call.id,
      },
      durationMs: 12,
    }),
    RunCompleted({ runId }),
  ];
}

function newEvent(draft: EventDraft): NewEvent {
  const id = uuidv7();
  return {
    id,
    type: draft.type,
    data: draft.data as Json,
    recordedAt: new Date().toISOString(),
    metadata: { schema: 1, by: "runtime", causationId: id, correlationId: id },
  };
}

async function writeLog(log: EventLog): Promise<void> {
  let written = 0;
  for (let thread = 0; written < eventCount; thread += threadsAtOnce) {
    for (let turn = 0; turn < turnsPerThread && written < eventCount; turn++) {
      const batches = Array.from({ length: threadsAtOnce }, (_, index) => {
        const first =
          turn === 0
            ? [ThreadCreated({}), TitleSet({ title: `Report ${thread + index}`, origin: "auto" })]
            : [];
        return [...first, ...turnOf(turn)].map(newEvent);
      });
      await Promise.all(
        batches.map((events, index) =>
          log.append(threadStream(`t${thread + index}`), events, { expectedVersion: "any" }),
        ),
      );
      written += batches.reduce((sum, events) => sum + events.length, 0);
    }
  }
}

interface Measured {
  readonly wallMs: number;
  readonly cpuMs: number;
  readonly events: number;
}

async function measure(run: () => Promise<number>): Promise<Measured> {
  const cpu = process.cpuUsage();
  const start = performance.now();
  const events = await run();
  const { user, system } = process.cpuUsage(cpu);
  return { wallMs: performance.now() - start, cpuMs: (user + system) / 1000, events };
}

const best = (runs: readonly Measured[], key: "wallMs" | "cpuMs") => Math.min(...runs.map((run) => run[key]));

const folder = await mkdtemp(join(tmpdir(), "threadfold-bench-rebuild-"));
try {
  const path = join(folder, "threads.db");
  const { log } = await openSqlite(path, { synchronous: "normal" });
  await writeLog(log);
  const store = await openSqliteProjectionStore(join(folder, "threads.projections.db"));
  const driver = await loadSqliteDriver();

  const bare = (columns: string) =>
    measure(async () => {
      const database = driver.open(path, { readOnly: true });
      const page = database.prepare(
        `SELECT ${columns} FROM events e WHERE position > ? ORDER BY position LIMIT 1000`,
      );
      let count = 0;
      for (let after = 0; ; ) {
        const rows = page.all(after);
        const last = rows.at(-1);
        if (!last) break;
        for (const row of rows) if (JSON.parse(String(row.at(-1))) !== undefined) count += 1;
        after = Number(last[0]);
      }
      database.close();
      return count;
    });
  const readAll = () =>
    measure(async () => {
      let count = 0;
      for await (const page of log.readAll()) count += page.length;
      return count;
    });

  const table = new Table({
    head: ["what", "events", "wall", "CPU", "of bare, wall", "of bare, CPU", "target"],
  });
  const bareRuns: Measured[] = [];
  const briefRuns: Measured[] = [];
  const readRuns: Measured[] = [];
  const listRuns: Measured[] = [];
  for (let round = 0; round < rounds; round++) {
    bareRuns.push(await bare("*"));
    briefRuns.push(await bare(briefColumns));
    readRuns.push(await readAll());
    listRuns.push(
      await measure(async () => {
        const { table: built } = await rebuildProjection({
          projection: threadList,
          log,
          store,
          registry,
          fresh: true,
        });
        return built.events;
      }),
    );
  }
  const row = (what: string, runs: readonly Measured[], target: string) => {
    const [wall, cpu] = [best(runs, "wallMs"), best(runs, "cpuMs")];
    table.push([
      what,
      String(runs[0]?.events ?? 0),
      `${(wall / 1000).toFixed(2)} s`,
      `${(cpu / 1000).toFixed(2)} s`,
      `${((100 * best(bareRuns, "wallMs")) / wall).toFixed(0)} %`,
      `${((100 * best(bareRuns, "cpuMs")) / cpu).toFixed(0)} %`,
      target,
    ]);
  };
  row("bare driver: read and parse the rows", bareRuns, "");
  row("bare driver: only the columns of a rebuild", briefRuns, "");
  row("log.readAll", readRuns, "");
  row("rebuild of thread-list", listRuns, ">= 60 %");
  if (every) {
    for (const projection of builtInProjections.filter((one) => one !== threadList)) {
      const run = await measure(async () => {
        const { table: built } = await rebuildProjection({ projection, log, store, registry, fresh: true });
        return built.events;
      });
      row(`rebuild of ${projection.name}`, [run], "");
    }
  }
  console.log(table.toString());
  await store.close();
  await log.close();
} finally {
  await rm(folder, { recursive: true, force: true });
}

import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import type { NewEvent } from "../../../events/envelope.ts";
import { openStore } from "../../../events/open-store.ts";
import { cli } from "./run-cli.ts";
import { sampleStore } from "./sample-store.ts";

let folder: string;
let remove: () => Promise<void>;

function event(id: string, type: string, schema: number): NewEvent {
  const by = "middleware:planner" as const;
  const metadata = { schema, by, causationId: id, correlationId: id };
  return { id, type, data: { plan: "x" }, recordedAt: "2026-01-01T00:00:00.000Z", metadata };
}

beforeAll(async () => {
  ({ folder, remove } = await sampleStore());
  const store = await openStore(`sqlite:${join(folder, ".threadfold", "threads.db")}`);
  await store.log.append("thread-planned", [event("e1", "PlanWritten", 1)], { expectedVersion: 0 });
  await store.close();
}, 60_000);
afterAll(() => remove());
const call = (...args: readonly string[]) => cli(args, { cwd: folder });

test("doctor names unknown events, how many, and the middleware that would fold them; they are skipped", async () => {
  const { stdout, code } = await call("doctor");
  expect(stdout).toContain("PlanWritten: 1 event by middleware:planner are kept and skipped");
  expect(stdout).toContain("the middleware planner would fold them");
  expect(code).toBe(0);
  expect((await call("state", "planned", "--path", "messages")).stdout).toBe("[]\n");
}, 60_000);

test("doctor names events that the configured agent does not fold, and the middleware that would", async () => {
  const made = await call("run", "--thread", "todos", "--model", "builtin:planner", "What is 1 + 1?");
  expect(made.code).toBe(0);
  await writeFile(join(folder, "bare.mjs"), `export default { model: "builtin:planner" };`);
  await writeFile(join(folder, "bare.json"), JSON.stringify({ agent: "./bare.mjs" }));
  const { stdout } = await call("doctor", "--config", "bare.json", "--events");
  expect(stdout).toMatch(/TitleSet: \d+ events? by .*change no field of this agent/);
  expect(stdout).toContain("the middleware title would fold them");
}, 90_000);

test("a log of a newer version is refused with a message that says so, and doctor finds it", async () => {
  const store = await openStore(`sqlite:${join(folder, ".threadfold", "threads.db")}`);
  await store.log.append("thread-newer", [event("e2", "TitleSet", 9)], { expectedVersion: 0 });
  await store.close();
  const refused = await call("state", "newer");
  expect(refused.code).toBe(4);
  expect(refused.stderr).toContain("written by a newer version");
  const { stdout, code } = await call("doctor");
  expect(stdout).toContain("have schema version 9, and this version knows up to 1");
  expect(code).toBe(1);
}, 60_000);

test("export takes filters, as NDJSON and as CSV", async () => {
  const csv = await call("export", "parent", "--format", "csv", "--type", "RunStarted,RunCompleted");
  const [head, ...rows] = csv.stdout.trim().split("\n");
  expect(head).toBe("thread,version,recorded_at,type,by,run,step,id,caused_by,hash,data");
  expect(rows.length).toBeGreaterThan(1);
  expect(rows.every((row) => /^parent,\d+,[^,]+,Run(?:Started|Completed),/.test(row))).toBe(true);
  const part = await call("export", "parent", "--by", "user");
  const events = part.stdout
    .trim()
    .split("\n")
    .map((line) => JSON.parse(line));
  expect(events.every(({ metadata }) => metadata.by === "user")).toBe(true);
  expect(part.stderr).toContain("no whole chain");
  expect((await call("export", "parent", "--since", "2999-01-01")).stdout).toBe("");
  expect((await call("export", "parent", "--until", "2999-01-01", "--run", "nobody")).stdout).toBe("");
  expect(await call("export", "parent", "--since", "soon")).toMatchObject({ code: 2 });
  expect(await call("export", "parent", "--by", "user", "--blobs")).toMatchObject({ code: 2 });
}, 90_000);

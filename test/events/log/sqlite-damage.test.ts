import { copyFile, mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import fc from "fast-check";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import type { RecordedEvent } from "../../../events/envelope.ts";
import { findBrokenLink } from "../../../events/hash-chain.ts";
import { DamagedEventError, type EventLog, LogFormatError } from "../../../events/log/event-log.ts";
import { openSqlite } from "../../../events/log/sqlite.ts";
import { loadSqliteDriver } from "../../../events/log/sqlite-driver.ts";
import { collect, newEvent } from "./new-events.ts";

const eventsPerStream = 20;
const damagedVersion = 7;
let folder: string;
let sound: string;
let original: RecordedEvent[];
let copies = 0;

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), "threadfold-damage-"));
  sound = join(folder, "sound.db");
  const { log } = await openSqlite(sound);
  for (let version = 0; version < eventsPerStream; version++) {
    for (const stream of ["thread-1", "thread-2"]) {
      const last = (await collect(log.read(stream, { backwards: true, limit: 1 })))[0];
      const runId = `run-${version % 3}-of-${stream}`;
      const event = newEvent({
        type: version % 2 === 0 ? "TitleSet" : "TodosWritten",
        data: { text: `Version ${version} of ${stream}`, list: [1, 2, 3] },
        metadata: {
          runId,
          correlationId: version % 4 === 0 ? "another correlation" : runId,
          step: version,
          traceparent: "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01",
          by: version % 2 === 0 ? "user" : "model:x",
          ...(last && { causationId: version % 5 === 0 ? "an event elsewhere" : last.id }),
        },
      });
      await log.append(stream, [event], { expectedVersion: version });
    }
  }
  original = await collect(log.readAll());
  await log.close();
});
afterAll(async () => {
  await rm(folder, { recursive: true });
});

async function copyOfStore(): Promise<string> {
  copies += 1;
  const path = join(folder, `copy-${copies}.db`);
  await copyFile(sound, path);
  return path;
}

interface Finding {
  readonly stream: string;
  readonly version: number;
}

/** The first damaged event of one stream, as a reader or its hash chain finds it. */
async function findDamage(log: EventLog, stream: string): Promise<Finding | undefined> {
  try {
    return findBrokenLink(await collect(log.read(stream)));
  } catch (error) {
    if (error instanceof DamagedEventError) return error;
    throw error;
  }
}

describe("one changed column of one event", () => {
  it.each([
    ["stream", "stream = 2"],
    ["stream, to one that is not there", "stream = 77"],
    ["version", "version = 700"],
    ["type, to another", "type = (SELECT id FROM words WHERE word = 'TodosWritten')"],
    ["type, to none", "type = 99"],
    ["schema", "schema = 2"],
    ["by, to another", "by = (SELECT id FROM words WHERE word = 'model:x')"],
    ["by, to none", "by = 99"],
    ["id", "id = randomblob(16)"],
    ["id, to fewer bytes", "id = x'00'"],
    ["id, to a text", "id = 'another id'"],
    ["at", "at = at + 1"],
    ["at, to no time", "at = 9007199254740991"],
    ["at, to a text", "at = 'noon'"],
    ["run, to another", "run = run + 1"],
    ["run, to none", "run = NULL"],
    ["step", "step = step + 1"],
    ["step, to none", "step = NULL"],
    ["cause, to another event", "cause = 3"],
    ["cause, to the event itself", "cause = NULL"],
    ["cause, to an event that is not there", "cause = 1000"],
    ["cause, to a text", "cause = 'somebody else'"],
    ["correlation", "correlation = 'another'"],
    ["trace", "trace = NULL"],
    ["hash", "hash = randomblob(32)"],
    ["hash, to fewer bytes", "hash = x'ab'"],
    ["data, one letter", "data = replace(data, 'Version', 'version')"],
    ["data, a space more", "data = replace(data, '[1,2,3]', '[1,2,33]')"],
    ["data, no JSON any more", "data = substr(data, 1, 10)"],
    ["data, no text any more", "data = 12"],
    ["data, bytes", "data = x'ff00'"],
  ])("is named with stream and version: %s", async (_column, assignment) => {
    const path = await copyOfStore();
    const database = (await loadSqliteDriver()).open(path);
    // The indexes would refuse what a hex editor does not ask about.
    database.exec("DROP INDEX events_of_lineage; DROP INDEX events_by_version");
    database.exec(`UPDATE events SET ${assignment} WHERE stream = 1 AND version = ${damagedVersion}`);
    database.exec("CREATE INDEX events_by_version ON events (stream, version)");
    database.exec("CREATE INDEX events_of_lineage ON events (stream, version) WHERE type IN (1,2)");
    database.close();
    const { log } = await openSqlite(path);
    expect(await findDamage(log, "thread-1")).toMatchObject({ stream: "thread-1", version: damagedVersion });
    await log.close();
  });

  it("a removed event in the middle is named", async () => {
    const path = await copyOfStore();
    const database = (await loadSqliteDriver()).open(path);
    database.exec(`DELETE FROM events WHERE stream = 2 AND version = ${damagedVersion}`);
    database.close();
    const { log } = await openSqlite(path);
    expect(await findDamage(log, "thread-2")).toMatchObject({ stream: "thread-2", version: damagedVersion });
    expect(await findDamage(log, "thread-1")).toBeUndefined();
    await log.close();
  });

  it.each([
    ["a type", "UPDATE words SET word = 'TitlesSet' WHERE word = 'TitleSet'", 1],
    ["an emitter", "UPDATE words SET word = 'model:y' WHERE word = 'model:x'", 2],
    ["a run", "UPDATE runs SET run = 'run-0-of-thread-9' WHERE run = 'run-0-of-thread-1'", 1],
    ["a stream", "UPDATE streams SET name = 'thread-9' WHERE name = 'thread-1'", 1],
  ])("a changed name of %s is found at its first event", async (_what, sql, version) => {
    const path = await copyOfStore();
    const database = (await loadSqliteDriver()).open(path);
    database.exec(sql);
    database.close();
    const { log } = await openSqlite(path);
    const findings = await Promise.all((await log.streams()).map(({ stream }) => findDamage(log, stream)));
    expect(findings.find((finding) => finding !== undefined)?.version).toBe(version);
    await log.close();
  });
});

type Outcome = "unharmed" | "found" | "refused";

/** Everything that an audit looks at: the store's own check, every stream, and the whole log. */
async function audit(path: string): Promise<Outcome> {
  try {
    const { log } = await openSqlite(path, { readOnly: true });
    try {
      if ((await log.check?.())?.length) return "found";
      for (const { stream } of await log.streams()) {
        if (await findDamage(log, stream)) return "found";
      }
      expect(await collect(log.readAll())).toEqual(original);
      return "unharmed";
    } finally {
      await log.close();
    }
  } catch (error) {
    if (error instanceof LogFormatError) return "refused";
    if (error instanceof DamagedEventError) return "found";
    throw error;
  }
}

describe("one flipped bit anywhere in the file", () => {
  it("is found, refused, or changes no event", async () => {
    const bytes = await readFile(sound);
    const outcomes: Outcome[] = [];
    await fc.assert(
      fc.asyncProperty(fc.nat(bytes.length - 1), fc.nat(7), async (offset, bit) => {
        const damaged = Buffer.from(bytes);
        damaged[offset] = (damaged[offset] as number) ^ (1 << bit);
        const path = join(folder, "flipped.db");
        await writeFile(path, damaged);
        outcomes.push(await audit(path));
        await rm(path);
      }),
      { numRuns: 150 },
    );
    expect(outcomes).toContain("found");
    expect(await audit(sound)).toBe("unharmed");
  });
});

it("a stream whose events are all gone is damaged, and neither left out of lists nor begun again", async () => {
  const path = await copyOfStore();
  const database = (await loadSqliteDriver()).open(path);
  database.exec("DELETE FROM events WHERE stream = 1");
  database.close();
  const { log } = await openSqlite(path);
  await expect(log.streams()).rejects.toThrow(DamagedEventError);
  await expect(log.head("thread-1")).rejects.toThrow(DamagedEventError);
  await expect(log.append("thread-1", [newEvent()], { expectedVersion: "any" })).rejects.toThrow(
    DamagedEventError,
  );
  expect((await log.head("thread-2")).version).toBe(eventsPerStream);
  await log.close();
});

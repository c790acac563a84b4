import { spawn } from "node:child_process";
import { once } from "node:events";
import { chmod, mkdir, mkdtemp, readFile, rm, stat, truncate, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { LogFormatError, LogUnavailableError } from "../../../events/log/event-log.ts";
import { openSqlite } from "../../../events/log/sqlite.ts";
import { loadSqliteDriver } from "../../../events/log/sqlite-driver.ts";
import { collect, newEvents } from "./new-events.ts";

let folder: string;
let path: string;
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), "threadfold-files-"));
  path = join(folder, "threads.db");
});
afterEach(async () => {
  await chmod(folder, 0o755);
  await rm(folder, { recursive: true });
});

async function fill(count: number): Promise<void> {
  const { log } = await openSqlite(path);
  await log.append("thread-1", newEvents(count), { expectedVersion: "any" });
  await log.close();
}

async function execute(sql: string): Promise<void> {
  const database = (await loadSqliteDriver()).open(path);
  database.exec(sql);
  database.close();
}

describe.each([{ readOnly: false }, { readOnly: true }])(
  "a file that is no store, opened with %j",
  (options) => {
    it("a database of another program is refused and left as it was", async () => {
      await execute("CREATE TABLE recipes (name TEXT); INSERT INTO recipes VALUES ('soup')");
      const before = await readFile(path);
      const opening = openSqlite(path, options);
      await expect(opening).rejects.toThrow(LogFormatError);
      await expect(opening).rejects.toThrow(/no Threadfold store/);
      expect(await readFile(path)).toEqual(before);
    });

    it("a file that is no database is refused and left as it was", async () => {
      await writeFile(path, "Dear diary, today I learned about event sourcing.\n".repeat(100));
      const before = await readFile(path);
      await expect(openSqlite(path, options)).rejects.toThrow(LogFormatError);
      expect(await readFile(path)).toEqual(before);
    });

    it("a store of a newer version is refused with both versions", async () => {
      await fill(1);
      await execute("PRAGMA user_version = 99");
      const opening = openSqlite(path, options);
      await expect(opening).rejects.toThrow(LogFormatError);
      await expect(opening).rejects.toThrow(/store version 99.*knows up to 1.*Upgrade/);
    });

    it("a store that lost its end is refused when it is opened or read", async () => {
      await fill(500);
      await truncate(path, Math.floor((await stat(path)).size / 2));
      const read = async () => {
        const { log } = await openSqlite(path, options);
        try {
          await collect(log.readAll());
        } finally {
          await log.close();
        }
      };
      await expect(read()).rejects.toThrow(LogFormatError);
    });
  },
);

describe("a place where no store can be", () => {
  it("makes the folder of the store, but not the folders above it", async () => {
    const { log } = await openSqlite(join(folder, ".threadfold", "threads.db"));
    await log.close();
    const opening = openSqlite(join(folder, "mistyped", ".threadfold", "threads.db"));
    await expect(opening).rejects.toThrow(LogUnavailableError);
    await expect(opening).rejects.toThrow(/folder of .* cannot be made/);
  });

  it("a folder in the place of the file is refused", async () => {
    await mkdir(path);
    await expect(openSqlite(path)).rejects.toThrow(LogUnavailableError);
    await expect(openSqlite(path, { readOnly: true })).rejects.toThrow(LogUnavailableError);
  });

  it("nothing is made by reading", async () => {
    await expect(openSqlite(path, { readOnly: true })).rejects.toThrow(LogUnavailableError);
    await expect(stat(path)).rejects.toThrow(/ENOENT/);
    await writeFile(path, "");
    await expect(openSqlite(path, { readOnly: true })).rejects.toThrow(LogFormatError);
  });
});

describe("read only", () => {
  it("reads and refuses every write", async () => {
    await fill(3);
    const { log, side } = await openSqlite(path, { readOnly: true });
    expect(await collect(log.read("thread-1"))).toHaveLength(3);
    expect(await log.check?.()).toEqual([]);
    for (const write of [
      () => log.append("thread-1", newEvents(1), { expectedVersion: 3 }),
      () => log.erase("thread-1"),
      () => side.put("lease", "a", 1),
      () => side.delete("lease", "a"),
    ]) {
      await expect(write()).rejects.toThrow(/reading only/);
    }
    expect(await log.head("thread-1")).toMatchObject({ version: 3, deleted: false });
    await log.close();
  });

  it("sees what a writer appends meanwhile", async () => {
    const writer = await openSqlite(path);
    const reader = await openSqlite(path, { readOnly: true });
    const { events } = await writer.log.append("thread-1", newEvents(2), { expectedVersion: 0 });
    expect(await collect(reader.log.read("thread-1"))).toEqual(events);
    await reader.log.close();
    await writer.log.close();
  });
});

/** Opens the store in a process without rights of its own, and gives what it printed. */
async function asNobody(mode: "read" | "write"): Promise<string> {
  const script = fileURLToPath(new URL("open-as-nobody.ts", import.meta.url));
  const child = spawn(process.execPath, ["--import", "tsx", script, path, mode]);
  let output = "";
  child.stdout.on("data", (chunk) => {
    output += chunk;
  });
  child.stderr.on("data", (chunk) => {
    output += chunk;
  });
  await once(child, "close");
  return output.trim();
}

describe("a folder without write permission", () => {
  it("can be read, and refuses writers before their first append", async () => {
    await fill(3);
    await chmod(path, 0o444);
    await chmod(folder, 0o555);
    expect(await asNobody("read")).toBe("3 events");
    expect(await asNobody("write")).toMatch(/^LogUnavailableError: .*threads\.db: /);
  });

  it("shows also what a killed writer left in the write-ahead log", async () => {
    const script = fileURLToPath(new URL("append-and-die.ts", import.meta.url));
    const child = spawn(process.execPath, ["--import", "tsx", script, path, "7"], { stdio: "inherit" });
    const [, signal] = await once(child, "close");
    expect(signal).toBe("SIGKILL");
    await rm(`${path}-shm`);
    await chmod(path, 0o444);
    await chmod(`${path}-wal`, 0o444);
    await chmod(folder, 0o555);
    expect(await asNobody("read")).toBe("7 events");
  });
});

import { existsSync } from "node:fs";
import { mkdtemp, rm, stat } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import fc from "fast-check";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { createMemoryBlobs } from "../../events/blobs/memory.ts";
import { LogUnavailableError } from "../../events/log/event-log.ts";
import { openStore, StoreUrlError, UnknownStoreUrlError } from "../../events/open-store.ts";
import { withoutCredentials } from "../../events/without-credentials.ts";
import { collect, newEvents } from "./log/new-events.ts";

let folder: string;
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), "threadfold-store-"));
});
afterEach(async () => {
  await rm(folder, { recursive: true });
});

describe("openStore", () => {
  it.each([
    ["sqlite: and a path", (path: string) => `sqlite:${path}`],
    ["sqlite:// and an absolute path", (path: string) => `sqlite://${path}`],
    ["a bare path", (path: string) => path],
  ])("opens a SQLite file by %s", async (_form, toUrl) => {
    const path = join(folder, "my threads.db");
    const store = await openStore(toUrl(path));
    expect(store).toMatchObject({ url: toUrl(path), folder, log: { kind: "sqlite" } });
    await store.log.append("thread-1", newEvents(2), { expectedVersion: 0 });
    const { sha256 } = await store.blobs.put("a blob", "text/plain");
    await store.side.put("lease", "a", 1);
    await store.close();
    expect((await stat(join(folder, "blobs", sha256.slice(0, 2), sha256))).isFile()).toBe(true);

    const again = await openStore(toUrl(path), { readOnly: true });
    expect(await collect(again.log.readAll())).toHaveLength(2);
    expect(await again.side.get("lease", "a")).toMatchObject({ value: 1 });
    await expect(again.side.put("lease", "a", 2)).rejects.toThrow(LogUnavailableError);
    await again.close();
  });

  it("is `.threadfold/threads.db` in the working directory when nothing is said", async () => {
    const before = process.cwd();
    process.chdir(folder);
    try {
      const store = await openStore();
      expect(store.url).toBe("sqlite:.threadfold/threads.db");
      await store.close();
    } finally {
      process.chdir(before);
    }
    expect((await stat(join(folder, ".threadfold", "threads.db"))).isFile()).toBe(true);
  });

  it("in memory has a folder that is gone after the close", async () => {
    const store = await openStore("memory:");
    expect(store.log.kind).toBe("memory");
    expect((await stat(store.folder)).isDirectory()).toBe(true);
    await store.close();
    await expect(stat(store.folder)).rejects.toThrow(/ENOENT/);
    await expect(store.log.head("thread-1")).rejects.toThrow(LogUnavailableError);
  });

  it("puts blobs where it is told to", async () => {
    const blobs = createMemoryBlobs();
    for (const url of ["memory:", `sqlite:${join(folder, "threads.db")}`]) {
      const store = await openStore(url, { blobs });
      expect(store.blobs).toBe(blobs);
      await store.close();
    }
  });

  it.each(["mysql://host/db", "http://host", "nosuch:thing"])(
    "refuses %s and names what it knows",
    async (url) => {
      const opening = openStore(url);
      await expect(opening).rejects.toThrow(UnknownStoreUrlError);
      await expect(opening).rejects.toThrow(/sqlite:.*memory:/);
    },
  );

  it("shows no credentials in the error about a URL", async () => {
    await expect(openStore("mysql://ada:secret@host/db?password=secret")).rejects.not.toThrow(/secret/);
  });
});

it("takes no options in a sqlite: URL, and makes no file of that name", async () => {
  const path = join(tmpdir(), "threadfold-no-such.db");
  const refused = openStore(`sqlite:${path}?blobs=s3://bucket`);
  await expect(refused).rejects.toThrow(StoreUrlError);
  await expect(refused).rejects.toThrow("takes none");
  await expect(openStore(`sqlite:${path}?max_connections=1`)).rejects.toThrow(StoreUrlError);
  expect(existsSync(`${path}?blobs=s3:`)).toBe(false);
});

it("opens a file with a question mark in its name by its path", async () => {
  const path = join(folder, "what?is=this.db");
  await (await openStore(path)).close();
  expect(existsSync(path)).toBe(true);
});

describe("withoutCredentials", () => {
  it.each([
    ["postgres://ada:secret@db:5432/threads", "postgres://db:5432/threads"],
    ["kurrentdb://admin:p@ss@host:2113?tls=false", "kurrentdb://host:2113?tls=false"],
    [
      "postgres://db/threads?user=ada&password=secret&sslmode=require",
      "postgres://db/threads?user=***&password=***&sslmode=require",
    ],
    ["kurrentdb://ada:se/cr?e#t@host:2113/?tls=false", "kurrentdb://host:2113/?tls=false"],
    ["kurrentdb://ada:1?2@host:2113?side=/home/me@work", "kurrentdb://host:2113?side=/home/me@work"],
    ["kurrentdb://ada:a?b=c@host:2113?tls=false", "kurrentdb://host:2113?tls=false"],
    ["kurrentdb://ada:a?b=c&d@host:2113", "kurrentdb://host:2113"],
    ["kurrentdb://ada:a?user=c@host:2113", "kurrentdb://host:2113"],
    ["kurrentdb://ada:a:b%c#d/e@[::1]:2113,other:2113", "kurrentdb://[::1]:2113,other:2113"],
    ["kurrentdb://one,[::1]:2113?side=/home/me@work", "kurrentdb://one,[::1]:2113?side=/home/me@work"],
    [
      "postgres://db/threads?user=ada@corp&password=se#c&ret",
      "postgres://db/threads?user=***&password=***&***",
    ],
    ["postgres://db/threads?sslpassword=secret", "postgres://db/threads?sslpassword=***"],
    ["mysql:ada:secret@host/db", "mysql:host/db"],
    ["sqlite:/home/me@work/threads.db", "sqlite:/home/me@work/threads.db"],
    ["C:\\me@work\\threads.db", "C:\\me@work\\threads.db"],
    ["memory:", "memory:"],
  ])("%s", (url, shown) => {
    expect(withoutCredentials(url)).toBe(shown);
  });

  it("shows nothing of a password, whatever it is made of", () => {
    const signs = fc.constantFrom(..."/@:%?#&=,[]ab1 ");
    const word = fc.array(signs, { maxLength: 12 }).map((text) => `${text.join("")}SECRET`);
    const anywhere = fc.tuple(word, fc.array(signs, { maxLength: 6 })).map(([a, b]) => a + b.join(""));
    fc.assert(
      fc.property(anywhere, fc.constantFrom("postgres", "kurrentdb", "mysql"), (password, scheme) => {
        expect(withoutCredentials(`${scheme}://ada:${password}@host:2113/db?tls=false`)).toBe(
          `${scheme}://host:2113/db?tls=false`,
        );
      }),
    );
  });
});

import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { createServer } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import * as client from "@kurrent/kurrentdb-client";
import { expect, onTestFinished, test } from "vitest";
import { LogFormatError, LogUnavailableError } from "../../../events/log/event-log.ts";
import { type KurrentOptions, openKurrentDb } from "../../../events/log/kurrentdb.ts";
import { StoreUrlError } from "../../../events/open-store.ts";
import { makeCertificates } from "./event-store-double/certificates.ts";
import {
  type ClusterMember,
  type DoubleOptions,
  type EventStoreDouble,
  startEventStoreDouble,
} from "./event-store-double/server.ts";
import { collect, newEvents } from "./new-events.ts";

const stream = "thread-1";

async function start(options?: DoubleOptions): Promise<EventStoreDouble> {
  const double = await startEventStoreDouble(options);
  onTestFinished(() => double.stop());
  return double;
}

async function open(url: string, options?: KurrentOptions) {
  const { log } = await openKurrentDb(url, { client, ...options });
  onTestFinished(() => log.close());
  return log;
}

/** The one line with which opening, a read and an append are refused, soon, and not after trying for long. */
async function refusal(url: string, kind: typeof LogUnavailableError | typeof LogFormatError) {
  const log = await open(url, { reconnectMs: 60_000, connect: false });
  const messages = new Set<string>();
  for (const attempt of [
    () => openKurrentDb(url, { client }),
    () => log.append(stream, newEvents(1), { expectedVersion: 0 }),
    () => collect(log.readAll()),
  ]) {
    const error: unknown = await attempt().then(
      () => undefined,
      (reason: unknown) => reason,
    );
    expect(error).toBeInstanceOf(kind);
    const { message } = error as Error;
    expect(message).not.toContain("\n");
    expect(message).not.toContain("secret");
    messages.add(message);
  }
  expect(messages.size).toBe(1);
  return [...messages].join();
}

test("an append that is larger than the server was told to take is refused as too large", async () => {
  const { url } = await start({ maxAppendBytes: 10_000 });
  const log = await open(url);
  const append = log.append(stream, newEvents(40), { expectedVersion: 0 });
  await expect(append).rejects.toMatchObject({ name: "EventTooLargeError", limit: 10_000 });
  expect((await log.head(stream)).version).toBe(0);
  await log.append(stream, newEvents(2), { expectedVersion: 0 });
});

/** A folder with files of an authority, whose name has a space. */
async function authorities() {
  const folder = await mkdtemp(join(tmpdir(), "threadfold-tls-"));
  onTestFinished(() => rm(folder, { recursive: true }));
  const [right, wrong] = [await makeCertificates(), await makeCertificates()];
  const files = { right: join(folder, "right ca.pem"), wrong: join(folder, "wrong.pem") };
  await writeFile(files.right, right.authority);
  await writeFile(files.wrong, wrong.authority);
  return { right, files, absent: join(folder, "absent.pem") };
}

test("a wrong password, an unknown user and no user", async () => {
  // Without TLS the clients send no password, and such a server knows no users.
  const { right, files } = await authorities();
  const double = await start({ user: "ada:right", tls: right });
  const as = (user: string) => `${double.url.replace("//", `//${user}`)}&tlsCAFile=${files.right}`;
  const log = await open(as("ada:right@"));
  await log.append(stream, newEvents(1), { expectedVersion: 0 });
  for (const url of [as("ada:secret@"), as("bob:right@"), as("")]) {
    expect(await refusal(url, LogUnavailableError)).toBe(
      `kurrentdb://127.0.0.1:${double.port} cannot be used: the server refuses the user name or password, or what they may do. Check them in the URL: kurrentdb://user:password@host:2113.`,
    );
  }
  expect(await collect(log.readAll())).toHaveLength(1);
});

test("TLS: the right authority, another one, none, and a server without", { timeout: 60_000 }, async () => {
  const { right, files, absent } = await authorities();
  const double = await start({ tls: right });
  const trusting = (file: string) => `${double.url}&tlsCAFile=${file}`;
  const log = await open(trusting(files.right));
  const { events } = await log.append(stream, newEvents(1), { expectedVersion: 0 });
  expect(await collect(log.read(stream))).toEqual(events);
  const plain = await start();
  for (const [url, reason] of [
    [trusting(files.wrong), "certificate signature failure"],
    [double.url, "unable to verify the first certificate"],
    [plain.url.replace("tls=false", "tls=true"), "wrong version number"],
  ] as const) {
    expect(await refusal(url, LogUnavailableError)).toContain(
      `no TLS connection can be made (${reason}). Name the authority`,
    );
  }
  await expect(openKurrentDb(trusting(absent), { client })).rejects.toThrow(StoreUrlError);
});

test("a port that nobody listens on, and a server that never answers", async () => {
  const double = await start();
  const { url, port } = double;
  await double.stop();
  const impatient = async (where: string, options: KurrentOptions) => {
    const log = await open(where, { reconnectMs: 0, connect: false, ...options });
    const error: unknown = await log.head(stream).catch((reason: unknown) => reason);
    expect(error).toBeInstanceOf(LogUnavailableError);
    const { message } = error as Error;
    await expect(openKurrentDb(where, { client, ...options })).rejects.toThrow(message);
    return message;
  };
  expect(await impatient(url, {})).toContain(
    `the server cannot be reached (connect ECONNREFUSED 127.0.0.1:${port})`,
  );
  expect(await impatient(url.replace("kurrentdb:", "kurrentdb+discover:"), {})).toContain(
    "cannot be reached",
  );
  const silent = createServer(() => undefined);
  onTestFinished(() => void silent.close());
  await new Promise<void>((resolve) => silent.listen(0, "127.0.0.1", resolve));
  const address = silent.address();
  const silentUrl = `kurrentdb://127.0.0.1:${typeof address === "object" ? address?.port : ""}?tls=false`;
  expect(await impatient(silentUrl, { callTimeoutMs: 300 })).toContain(
    "the server does not answer (no answer in 300 ms)",
  );
});

test.each([
  [{ version: "20.10.5" }, "is too old: version 20.10.5. Use EventStoreDB 21.10 or later"],
  [{ version: "5.0.11" }, "is too old: version 5.0.11."],
  [
    { serverFeatures: false },
    "does not tell its version, so it is older than EventStoreDB 21.10, or no event store.",
  ],
])("a server that is too old: %j", async (options, message) => {
  const double = await start(options);
  expect(await refusal(double.url, LogFormatError)).toContain(message);
  expect(double.storage.stream(stream)).toBeUndefined();
});

test("a cluster is asked for its leader, and asked again when the leader is gone", {
  timeout: 60_000,
}, async () => {
  let members: ClusterMember[] = [];
  const nodes = await Promise.all([1, 2, 3].map(() => start({ members: () => members })));
  const [one, two, three] = nodes as [EventStoreDouble, EventStoreDouble, EventStoreDouble];
  members = [
    { port: one.port, state: "follower" },
    { port: two.port, state: "leader" },
    { port: three.port, state: "catching-up" },
  ];
  for (const url of [
    `kurrentdb+discover://127.0.0.1:${one.port}?tls=false`,
    `kurrentdb://127.0.0.1:${one.port},127.0.0.1:${two.port},127.0.0.1:${three.port}?tls=false`,
  ]) {
    const log = await open(url);
    await log.append(`thread-${url.length}`, newEvents(1), { expectedVersion: 0 });
    expect(await collect(log.readAll())).not.toEqual([]);
  }
  const users = (node: EventStoreDouble) => node.storage.all.filter((record) => !record.type.startsWith("$"));
  expect(nodes.map((node) => users(node).length)).toEqual([0, 2, 0]);

  // The three do not replicate: what counts is whom the log talks to next.
  const log = await open(`kurrentdb://127.0.0.1:${one.port},127.0.0.1:${two.port}?tls=false`);
  await log.append("thread-before", newEvents(1), { expectedVersion: 0 });
  members = [
    { port: one.port, state: "leader" },
    { port: two.port, state: "leader", alive: false },
  ];
  await two.stop();
  await log.append("thread-after", newEvents(1), { expectedVersion: 0 });
  expect(users(one).map((record) => record.stream)).toEqual(["thread-after"]);
});

import { afterAll, beforeAll, describe, expect, onTestFinished, test } from "vitest";
import { BlobDamagedError, blobGraceMs } from "../../../events/blobs/blob-store.ts";
import { BlobsUnavailableError, openS3Blobs } from "../../../events/blobs/s3.ts";
import { sha256 } from "../../../events/hash-chain.ts";
import { openStore } from "../../../events/open-store.ts";
import { describeBlobStore } from "./blob-store.contract.ts";
import { type S3Double, startS3Double } from "./s3-double.ts";

let server: S3Double;
beforeAll(async () => {
  server = await startS3Double();
});
afterAll(async () => {
  await server?.stop();
});

const open = async (url: string) => {
  const opened = await openS3Blobs(url);
  onTestFinished(() => opened.close());
  return opened.blobs;
};
const keyOf = (url: string, digest: string) =>
  `${new URL(url).pathname.slice(1)}/${digest.slice(0, 2)}/${digest}`;

describeBlobStore("s3", async () => {
  const { blobs, close } = await openS3Blobs(server.newUrl());
  return { blobs, dispose: close };
});

test("lie under the first two digits of their digest, as they are, in the folder of the URL", async () => {
  const url = server.newUrl();
  const { sha256: digest } = await (await open(url)).put("plain bytes", "text/plain");
  expect(server.objects.get(keyOf(url, digest))?.bytes.toString()).toBe("plain bytes");
});

test("more blobs than one page of the service lists", { timeout: 60_000 }, async () => {
  const blobs = await open(server.newUrl());
  const many = 1005;
  for (let from = 0; from < many; from += 50) {
    const some = Array.from({ length: Math.min(50, many - from) }, (_, index) => `blob ${from + index}`);
    await Promise.all(some.map((text) => blobs.put(text, "text/plain")));
  }
  const listed: string[] = [];
  for await (const blob of blobs.list()) listed.push(blob.sha256);
  expect(new Set(listed).size).toBe(many);
  expect(listed).toEqual([...listed].sort());
});

test("bytes that somebody else put under a digest are not believed", async () => {
  const url = server.newUrl();
  const blobs = await open(url);
  const { sha256: digest } = await blobs.put("what was seen", "text/plain");
  server.objects.set(keyOf(url, digest), { bytes: Buffer.from("what was seeN"), writtenAt: new Date() });
  await expect(blobs.get(digest)).rejects.toThrow(BlobDamagedError);
});

test("a blob that is old is put again, a young one is not sent twice", async () => {
  const url = server.newUrl();
  const blobs = await open(url);
  const digest = sha256("text");
  const key = keyOf(url, digest);
  const puts = () => server.requests.filter((request) => request === `PUT ${key}`).length;
  for (const _ of [1, 2]) await blobs.put("text", "text/plain");
  expect(puts()).toBe(1);
  const bytes = Buffer.from("text");
  server.objects.set(key, { bytes, writtenAt: new Date(Date.now() - blobGraceMs) });
  await blobs.put("text", "text/plain");
  expect(puts()).toBe(2);
});

describe("what the service refuses is one line without secrets", () => {
  const refusal = async (url: string): Promise<string> => {
    const blobs = await open(url);
    const error: unknown = await blobs.put("text", "text/plain").catch((reason: unknown) => reason);
    expect(error).toBeInstanceOf(BlobsUnavailableError);
    const { message } = error as Error;
    expect(message).not.toContain("\n");
    expect(message).not.toContain("hidden");
    return message.replace(/folder\/\d+/, "folder");
  };

  test.each([
    [
      { secret: "hidden" },
      "s3://threads/folder cannot be used: access is refused (403). Check the access key",
    ],
    [{ key: "nobody" }, "s3://threads/folder cannot be used: access is refused (403). Check the access key"],
    [{ bucket: "nowhere" }, "s3://nowhere/folder cannot be used: The bucket does not exist. Make the bucket"],
  ])("%j", async (changes, message) => {
    expect(await refusal(server.newUrl(changes))).toContain(message);
  });

  test("a host that nobody answers on", async () => {
    const endpoint = encodeURIComponent("http://127.0.0.1:1");
    const message = await refusal(`s3://a:hidden@threads?endpoint=${endpoint}`);
    expect(message).toContain("ECONNREFUSED");
    expect(message).toContain("Check the endpoint");
  });

  test("a URL that cannot be read", async () => {
    await expect(openS3Blobs("s3://")).rejects.toThrow(BlobsUnavailableError);
  });

  test("a secret with a slash that is not percent-encoded is not taken for the folder", async () => {
    const refused = openS3Blobs("s3://key:12/secret@bucket/folder");
    await expect(refused).rejects.toThrow("The URL of the blobs cannot be read");
  });
});

test("a store takes the URL of its blobs as an option", async () => {
  const blobs = server.newUrl();
  const store = await openStore("memory:", { blobs });
  onTestFinished(() => store.close());
  const { sha256: digest } = await store.blobs.put("content", "text/plain");
  expect(await (await open(blobs)).has(digest)).toBe(true);
});

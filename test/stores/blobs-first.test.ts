import { afterAll, beforeAll, expect, onTestFinished, test } from "vitest";
import { createAgent } from "../../actors/create-agent.ts";
import { openStore } from "../../events/open-store.ts";
import type { Store } from "../../events/store.ts";
import { blobsOf } from "../../projections/blob-references.ts";
import { type S3Double, startS3Double } from "../events/blobs/s3-double.ts";

let s3: S3Double;
beforeAll(async () => {
  s3 = await startS3Double();
});
afterAll(() => s3?.stop());

const longText = "a long text of the user ".repeat(4000);

async function open(blobs: string): Promise<Store> {
  const store = await openStore("memory:", { blobs });
  onTestFinished(() => store.close());
  return store;
}

test("a blob is in the bucket before the event that names it is appended", async () => {
  const store = await open(s3.newUrl());
  const { log } = store;
  let named = 0;
  const missing: string[] = [];
  const append: typeof log.append = async (stream, events, options) => {
    for (const event of events) {
      for (const { sha256 } of blobsOf(event)) {
        named += 1;
        if (!(await store.blobs.has(sha256))) missing.push(sha256);
      }
    }
    return log.append(stream, events, options);
  };
  const agent = createAgent({ model: "builtin:planner", store: { ...store, log: { ...log, append } } });
  const { status } = await agent.thread("t").run(`remember ${longText}`).result;
  await agent.close();
  expect(status).toBe("completed");
  expect(named).toBeGreaterThan(0);
  expect(missing).toEqual([]);
});

test("when the bucket cannot be used no event names what is not there, and the error says why", async () => {
  const store = await open(s3.newUrl({ bucket: "nowhere" }));
  const agent = createAgent({ model: "builtin:planner", store });
  const failure: unknown = await agent
    .thread("t")
    .run(`remember ${longText}`)
    .result.then(
      ({ error }) => error,
      (error: unknown) => error,
    );
  expect(failure).toMatchObject({ message: expect.stringContaining("s3://nowhere") });
  await agent.close();
  for await (const page of store.log.readAll()) {
    for (const event of page) expect(blobsOf(event)).toEqual([]);
  }
});

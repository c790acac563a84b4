import { describe, expect, test } from "vitest";
import { holdsBlobs, moveToBlobs, resolveBlobs } from "../../../events/blobs/blob-content.ts";
import { createMemoryBlobs } from "../../../events/blobs/memory.ts";
import type { Message } from "../../../events/message.ts";

const image = Buffer.from(Uint8Array.from({ length: 3000 }, (_, index) => (index * 7919) % 256)).toString(
  "base64",
);

function human(content: Message["content"], more: Record<string, unknown> = {}): Message {
  return { id: "m1", type: "human", content, ...more };
}

const cases: [string, Message][] = [
  ["a long text", human("a long line\n".repeat(10_000))],
  ["a data URL inside a text", human(`see data:image/png;base64,${image} there`)],
  [
    "an image_url block",
    human([{ type: "image_url", image_url: { url: `data:image/png;base64,${image}` } }]),
  ],
  [
    "an image_url block with a string",
    human([{ type: "image_url", image_url: `data:image/jpeg;base64,${image}` }]),
  ],
  ["a standard image block", human([{ type: "image", mimeType: "image/png", data: image }])],
  [
    "an image block of Anthropic's",
    human(["look", { type: "image", source: { type: "base64", media_type: "image/png", data: image } }]),
  ],
  ["a block with two large strings", human([{ type: "file", data: image, thumbnail: { data: image } }])],
  ["a list with one long string", human(["x y".repeat(40_000)])],
  ["base64 in the artifact", human("done", { artifact: { shots: [{ data: image }] } })],
];

describe("large content lives in the blob store", () => {
  test.each(cases)("%s leaves the event and comes back as it was", async (_name, message) => {
    const blobs = createMemoryBlobs();
    const moved = await moveToBlobs(message, blobs);
    const text = JSON.stringify(moved);
    expect(text.length).toBeLessThan(2_000);
    expect(text).not.toContain(image.slice(0, 100));
    expect(holdsBlobs(moved)).toBe(true);
    expect(await resolveBlobs(moved, blobs)).toEqual(message);
  });

  test("a reference names type and size of the bytes", async () => {
    const blobs = createMemoryBlobs();
    const moved = await moveToBlobs(
      human([{ type: "image_url", image_url: { url: `data:image/png;base64,${image}` } }]),
      blobs,
    );
    expect(moved.content).toMatchObject([{ type: "blob", mimeType: "image/png", size: 3000 }]);
    const { sha256 } = (moved.content as unknown as { sha256: string }[])[0] ?? { sha256: "" };
    expect(Buffer.from(await blobs.get(sha256)).toString("base64")).toBe(image);
  });

  test("a data URL leaves the event, however short it is, and a text that mentions one stays", async () => {
    const blobs = createMemoryBlobs();
    const url = `data:image/png;base64,${image.slice(0, 8)}`;
    const message = human([{ type: "image_url", image_url: { url } }]);
    const moved = await moveToBlobs(message, blobs);
    expect(JSON.stringify(moved)).not.toContain(image.slice(0, 8));
    expect(await resolveBlobs(moved, blobs)).toEqual(message);
    const mention = human([{ type: "text", text: url }]);
    expect(await moveToBlobs(mention, blobs)).toBe(mention);
  });

  test("ordinary messages are given back as they are", async () => {
    const blobs = createMemoryBlobs();
    const message = human([
      { type: "text", text: "short" },
      { type: "image_url", image_url: "https://a.example/b.png" },
    ]);
    expect(await moveToBlobs(message, blobs)).toBe(message);
    expect(await resolveBlobs(message, blobs)).toBe(message);
  });

  test("content that was erased becomes a note, and the thread goes on", async () => {
    const blobs = createMemoryBlobs();
    const moved = await moveToBlobs(human("line\n".repeat(30_000)), blobs);
    for await (const { sha256 } of blobs.list()) await blobs.delete(sha256);
    const resolved = await resolveBlobs(moved, blobs);
    expect(resolved.content).toBe("[text/plain, 150000 bytes: this content is not in the store any more]");
  });
});

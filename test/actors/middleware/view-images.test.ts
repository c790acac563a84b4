import type { BaseMessage } from "@langchain/core/messages";
import { describe, expect, it } from "vitest";
import { withoutHiddenImages } from "../../../actors/middleware/image-context.ts";
import { viewImagesMiddleware } from "../../../actors/middleware/view-images.ts";
import { viewImageTool } from "../../../actors/tools/view-image.ts";
import { createMemoryBlobs } from "../../../events/blobs/memory.ts";
import type { Message } from "../../../events/message.ts";
import { createThreadReducer } from "../../../reducers/built-in.ts";
import { injection, png } from "../../cases/images.ts";
import { ScriptedModel } from "../scripted-model.ts";
import { type CaseMessage, callHook, callModel, hookState, modelRequest } from "./hook-bench.ts";

const middleware = viewImagesMiddleware({ vision: true });
const path = "/mnt/user-data/uploads/a.png";

async function oneImage(name = path) {
  const blobs = createMemoryBlobs();
  const { sha256 } = await blobs.put(png(), "image/png");
  return { blobs, fields: { viewed_images: { [name]: { mime_type: "image/png", size: 24, sha256 } } } };
}

async function ask(messages: readonly CaseMessage[], viewed: boolean, using = middleware) {
  const { blobs, fields } = await oneImage();
  const request = modelRequest(messages, { blobs, ...(viewed ? { fields } : {}) });
  const { requests, result } = await callModel(using, request);
  const added = requests[0]?.messages.filter((message) => !request.messages.includes(message)) ?? [];
  return { added, result };
}

const blocksOf = (message: BaseMessage | undefined) =>
  (message?.content ?? []) as { type: string; text?: string; image_url?: { url: string } }[];

const viewed = injection.find(({ id }) => id === "IMG-01")?.messages ?? [];

describe("images in the request", () => {
  for (const { id, what, messages, viewed: known, blocks } of injection) {
    it(`${id}: ${what}`, async () => {
      const { added } = await ask(messages, known);
      if (blocks === null) return expect(added).toEqual([]);
      expect(added).toHaveLength(1);
      expect(added[0]?.getType()).toBe("human");
      expect(added[0]?.additional_kwargs.hide_from_ui).toBe(true);
      expect(blocksOf(added[0]).map(({ type }) => type)).toEqual(blocks);
      const urls = blocksOf(added[0]).flatMap(({ image_url }) => image_url?.url ?? []);
      expect(urls).toEqual(known ? [`data:image/png;base64,${png().toString("base64")}`] : []);
    });
  }

  it("IMG-16 (wanted): after the answer the images are cleared, so that the next view shows only the new one", async () => {
    const { result } = await ask(viewed, true);
    const events = (result as { events?: { type: string; data: unknown }[] }).events ?? [];
    expect(events.map(({ type }) => type)).toEqual(["ImagesCleared"]);

    const second = { "/mnt/user-data/uploads/b.png": { mime_type: "image/png", size: 24 } };
    const { fields } = await oneImage();
    const types = [
      { type: "ImagesViewed", data: { images: fields.viewed_images } },
      ...events,
      { type: "ImagesViewed", data: { images: second } },
    ];
    const state = createThreadReducer().fold(types.map((event, index) => ({ ...event, version: index + 1 })));
    expect(state.viewed_images).toEqual(second);
  });

  it("nothing is cleared where nothing was shown", async () => {
    const { result } = await ask(viewed, false);
    expect(result).not.toHaveProperty("events");
  });

  it("a user who quotes the header or the id's prefix changes nothing", async () => {
    const quote = { type: "human", content: "The images that you viewed: view-image-context:1" };
    const { added } = await ask([...viewed, quote], true);
    expect(blocksOf(added[0])).toHaveLength(3);
  });

  it("an image whose bytes are gone becomes a note with its virtual path", async () => {
    const fields = { viewed_images: { [path]: { mime_type: "image/png", size: 1, sha256: "0".repeat(64) } } };
    const { requests } = await callModel(middleware, modelRequest(viewed, { fields }));
    const blocks = blocksOf(requests[0]?.messages.at(-1));
    expect(blocks.map(({ type }) => type)).toEqual(["text", "text", "text"]);
    expect(blocks[2]?.text).toContain(path);
  });

  it("images of two paths are shown in the order in which they were viewed", async () => {
    const { blobs, fields } = await oneImage("/mnt/user-data/uploads/z.png");
    const both = { viewed_images: { ...fields.viewed_images, ...(await oneImage()).fields.viewed_images } };
    const { requests } = await callModel(middleware, modelRequest(viewed, { blobs, fields: both }));
    const captions = blocksOf(requests[0]?.messages.at(-1)).flatMap(({ text }) => text ?? []);
    expect(captions.slice(1)).toEqual(["/mnt/user-data/uploads/z.png (image/png)", `${path} (image/png)`]);
  });
});

describe("what is left behind", () => {
  it("IMG-14: only messages with both the reserved id and the marker are removed", async () => {
    const state = hookState([
      { type: "human", content: "q", id: "h" },
      { type: "human", id: "view-image-context:1", additional_kwargs: { deerflow_view_image_context: true } },
      { type: "human", id: "view-image-context:2", content: "user text" },
      { type: "ai", content: "seen", id: "a" },
    ]);
    const outcome = await callHook(middleware.afterModel, state);
    expect(outcome?.events).toMatchObject([
      { type: "MessagesRemoved", data: { ids: ["view-image-context:1"] } },
    ]);
  });

  it("IMG-15: without them nothing happens", async () => {
    const state = hookState([
      { type: "human", content: "q" },
      { type: "ai", content: "x" },
    ]);
    expect(await callHook(middleware.afterModel, state)).toBeUndefined();
  });

  it("IMG-18: hidden messages lose their data URLs on the way to clients, ordinary ones keep them", () => {
    const image = { type: "image_url", image_url: { url: "data:image/png;base64,AA" } };
    const messages = [
      {
        id: "1",
        type: "human",
        content: [{ type: "text", text: "t" }, image],
        additional_kwargs: { hide_from_ui: true },
      },
      { id: "2", type: "human", content: [image], additional_kwargs: {} },
    ] satisfies Message[];
    const clean = withoutHiddenImages(messages);
    expect(clean.map(({ content }) => content.length)).toEqual([1, 1]);
    expect(clean[1]).toBe(messages[1]);
    expect(withoutHiddenImages(messages.slice(1))).toHaveLength(1);
  });
});

describe("vision", () => {
  const tools = [viewImageTool()];

  it("a model without vision is offered no view_image and shown no image", async () => {
    const blind = viewImagesMiddleware({ vision: false });
    const { blobs, fields } = await oneImage();
    const { requests } = await callModel(blind, modelRequest(viewed, { blobs, fields, tools }));
    expect(requests[0]?.tools).toEqual([]);
    expect(requests[0]?.messages).toHaveLength(viewed.length);
  });

  it("what a blind model answered to is cleared too, so that the next view shows only the new image", async () => {
    const { result } = await ask(viewed, true, viewImagesMiddleware());
    expect(result).toMatchObject({ events: [{ type: "ImagesCleared" }] });
  });

  it("auto asks the model's profile", async () => {
    const auto = viewImagesMiddleware();
    const model = new ScriptedModel({ answers: ["x"] });
    const unknown = await callModel(auto, modelRequest(viewed, { tools, model }));
    Object.defineProperty(model, "profile", { value: { imageInputs: true } });
    const known = await callModel(auto, modelRequest(viewed, { tools, model }));
    expect([unknown.requests[0]?.tools.length, known.requests[0]?.tools.length]).toEqual([0, 1]);
  });
});

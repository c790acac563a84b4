import type { CaseMessage } from "../actors/middleware/hook-bench.ts";

const look: CaseMessage = { type: "human", content: "look" };
const viewCall = { name: "view_image", args: { image_path: "/mnt/user-data/uploads/a.png" }, id: "c1" };
const view: CaseMessage = { type: "ai", tool_calls: [viewCall] };
const result: CaseMessage = { type: "tool", content: "ok", tool_call_id: "c1" };

/** Is the message with the viewed images in the next request? `blocks`: its block types; null: it is not there. */
export const injection: readonly {
  id: string;
  what: string;
  messages: readonly CaseMessage[];
  viewed: boolean;
  blocks: readonly string[] | null;
}[] = [
  {
    id: "IMG-01",
    what: "a header, then a caption and a data URL for each image",
    messages: [look, view, result],
    viewed: true,
    blocks: ["text", "text", "image_url"],
  },
  {
    id: "IMG-02",
    what: "not before the tool has answered",
    messages: [look, view],
    viewed: true,
    blocks: null,
  },
  { id: "IMG-03", what: "not without a view", messages: [look], viewed: true, blocks: null },
  { id: "IMG-04", what: "not in an empty thread", messages: [], viewed: true, blocks: null },
  {
    id: "IMG-06",
    what: "not before all calls of the answer have results",
    messages: [look, { type: "ai", tool_calls: [viewCall, { name: "bash", args: {}, id: "c2" }] }, result],
    viewed: true,
    blocks: null,
  },
  {
    id: "IMG-07",
    what: "a result that stands before the call does not count",
    messages: [result, view],
    viewed: true,
    blocks: null,
  },
  {
    id: "IMG-09",
    what: "not when the images were shown already",
    messages: [
      look,
      view,
      result,
      {
        type: "human",
        id: "view-image-context:abc",
        content: "x",
        additional_kwargs: { hide_from_ui: true, deerflow_view_image_context: true },
      },
    ],
    viewed: true,
    blocks: null,
  },
  {
    id: "IMG-13",
    what: "a view that failed leaves a header without images",
    messages: [look, view, result],
    viewed: false,
    blocks: ["text"],
  },
];

export const png = (size = 24): Buffer =>
  Buffer.concat([Buffer.from("\x89PNG\r\n\x1a\n", "latin1"), Buffer.alloc(size - 8, 1)]);
const jpeg = Buffer.concat([Buffer.from([0xff, 0xd8, 0xff, 0xe0]), Buffer.alloc(6)]);
const webp = Buffer.concat([Buffer.from("RIFF\0\0\0\0WEBP", "latin1"), Buffer.alloc(4)]);
const gif = Buffer.concat([Buffer.from("GIF89a", "latin1"), Buffer.alloc(3)]);

/** What view_image does with a path. `file`: what lies there before; `sees`: the entry of the state, or null for an error. */
export const toolCases: readonly {
  id: string;
  what: string;
  path: string;
  file?: { area: "uploads" | "outputs"; name: string; content: Buffer | "folder" };
  maxBytes?: number;
  sees: { mime_type: string; size: number } | null;
}[] = [
  {
    id: "IMG-20",
    what: "the extension counts in any case",
    path: "/mnt/user-data/uploads/a.JPEG",
    file: { area: "uploads", name: "a.JPEG", content: jpeg },
    sees: { mime_type: "image/jpeg", size: 10 },
  },
  {
    id: "IMG-21",
    what: "WebP",
    path: "/mnt/user-data/uploads/a.webp",
    file: { area: "uploads", name: "a.webp", content: webp },
    sees: { mime_type: "image/webp", size: 16 },
  },
  {
    id: "IMG-22",
    what: "GIF in outputs",
    path: "/mnt/user-data/outputs/a.gif",
    file: { area: "outputs", name: "a.gif", content: gif },
    sees: { mime_type: "image/gif", size: 9 },
  },
  { id: "IMG-23", what: "not outside of the thread's folders", path: "/etc/passwd.png", sees: null },
  {
    id: "IMG-24",
    what: "not in a folder whose name only begins like an allowed one",
    path: "/mnt/user-data/uploads-evil/a.png",
    sees: null,
  },
  {
    id: "IMG-27",
    what: "not a folder with the name of an image",
    path: "/mnt/user-data/uploads/d.png",
    file: { area: "uploads", name: "d.png", content: "folder" },
    sees: null,
  },
  {
    id: "IMG-29",
    what: "not a text with the name of an image",
    path: "/mnt/user-data/uploads/a.png",
    file: { area: "uploads", name: "a.png", content: Buffer.from("just some text, no image") },
    sees: null,
  },
  {
    id: "IMG-31",
    what: "not one byte over the limit",
    path: "/mnt/user-data/uploads/a.png",
    file: { area: "uploads", name: "a.png", content: png() },
    maxBytes: 23,
    sees: null,
  },
  {
    id: "IMG-32",
    what: "the limit itself is allowed",
    path: "/mnt/user-data/uploads/a.png",
    file: { area: "uploads", name: "a.png", content: png() },
    maxBytes: 24,
    sees: { mime_type: "image/png", size: 24 },
  },
];

import type { TitleMiddlewareOptions } from "../../actors/middleware/title.ts";

/** A fact about the title after the first answer. */
export interface TitleCase {
  readonly id: string;
  readonly what: string;
  readonly config?: TitleMiddlewareOptions;
  readonly messages: unknown;
  /** `null`: no title. */
  readonly title: string | null;
}

const turn = (content: unknown, answer: unknown = "ok") => [
  { type: "human", content },
  { type: "ai", content: answer },
];
const x = (count: number) => "x".repeat(count);

export const titleCases: readonly TitleCase[] = [
  {
    id: "TTL-02",
    what: "switched off, there is none",
    config: { enabled: false },
    messages: turn("Q", "A"),
    title: null,
  },
  {
    id: "TTL-05",
    what: "only in the first turn of a user",
    messages: [...turn("q1", "a1"), ...turn("q2", "a2")],
    title: null,
  },
  { id: "TTL-09", what: "no messages field, no failure", messages: null, title: null },
  {
    id: "TTL-10",
    what: "the first answer may be a tool call without text",
    messages: [
      { type: "human", content: "Q" },
      { type: "ai", content: "", tool_calls: [{ name: "bash", args: {}, id: "c1" }] },
    ],
    title: "Q",
  },
  {
    id: "TTL-12",
    what: "text blocks are joined, other blocks skipped, nothing is dumped",
    messages: turn([
      { type: "text", text: "a" },
      { type: "image_url", image_url: { url: "data:x" } },
      { type: "text", text: "b" },
    ]),
    title: "a\nb",
  },
  {
    id: "TTL-13",
    what: "a message of pictures alone",
    messages: turn([{ type: "image_url", image_url: { url: "data:x" } }]),
    title: "New Conversation",
  },
  {
    id: "TTL-14",
    what: "the dots count",
    config: { max_chars: 10 },
    messages: turn("abcdefghijk"),
    title: "abcdefg...",
  },
  {
    id: "TTL-16",
    what: "50 characters and dots",
    config: { max_chars: 60 },
    messages: turn(x(100)),
    title: `${x(50)}...`,
  },
  {
    id: "TTL-17",
    what: "49 fit into 52 with dots",
    config: { max_chars: 52 },
    messages: turn(x(60)),
    title: `${x(49)}...`,
  },
  {
    id: "TTL-18",
    what: "never more than 50 characters of the message",
    config: { max_chars: 200 },
    messages: turn(x(120)),
    title: `${x(50)}...`,
  },
  {
    id: "TTL-19",
    what: "no blank before the dots",
    config: { max_chars: 60 },
    messages: turn("word ".repeat(12)),
    title: "word word word word word word word word word word...",
  },
  {
    id: "TTL-20",
    what: "plain objects with role names",
    messages: [
      { role: "user", content: "Q" },
      { role: "assistant", content: "A" },
    ],
    title: "Q",
  },
  {
    id: "TTL-31",
    what: "(wanted) what the user typed, not the block about files in front of it",
    messages: [
      {
        type: "human",
        content: "<current_uploads>\n- a.txt\n</current_uploads>\n\nSum up the file",
        additional_kwargs: { original_user_content: "Sum up the file" },
      },
      { type: "ai", content: "ok" },
    ],
    title: "Sum up the file",
  },
];

/** A fact about titles that a model writes: what it answers, and what the title becomes. */
export const writtenTitleCases: readonly {
  readonly id: string;
  readonly what: string;
  readonly prompt?: string;
  readonly answer: string | Error;
  readonly title: string;
  readonly calls: number;
}[] = [
  {
    id: "TTL-23",
    what: "an empty answer gives the local title",
    answer: "",
    title: "Please write tests",
    calls: 1,
  },
  {
    id: "TTL-24",
    what: "an error gives the local title",
    answer: new Error("down"),
    title: "Please write tests",
    calls: 1,
  },
  {
    id: "TTL-25",
    what: "thoughts and quotes are taken off",
    answer: '<think>hm</think>"Test Plan"',
    title: "Test Plan",
    calls: 1,
  },
  {
    id: "TTL-26",
    what: "nothing but thoughts gives the local title",
    answer: "<think>only thoughts</think>",
    title: "Please write tests",
    calls: 1,
  },
  {
    id: "TTL-28",
    what: "a broken template gives the local title and asks nobody",
    prompt: "{usr_msg}",
    answer: "unused",
    title: "Please write tests",
    calls: 0,
  },
];

export const titleRanges = [
  { id: "TTL-29", field: "max_chars", accepted: [10, 200], rejected: [9, 201] },
  { id: "TTL-30", field: "max_words", accepted: [1, 20], rejected: [0, 21] },
] as const;

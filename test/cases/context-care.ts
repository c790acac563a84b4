import type { CaseMessage } from "../actors/middleware/hook-bench.ts";

const call: CaseMessage = { type: "ai", tool_calls: [{ name: "bash", args: {}, id: "a" }] };
const result: CaseMessage = { type: "tool", content: "ok", tool_call_id: "a", name: "bash" };
const human = (content: string): CaseMessage => ({ type: "human", content });

/** Requests before and after the repair: types, with call id and status of tool results. */
export const repairs: readonly {
  id: string;
  what: string;
  messages: readonly CaseMessage[];
  sequence: readonly string[];
}[] = [
  {
    id: "DNG-01",
    what: "a call with its result stays as it is",
    messages: [human("q"), call, result],
    sequence: ["human", "ai", "tool:a"],
  },
  {
    id: "DNG-02",
    what: "a call without a result gets an error right behind it",
    messages: [human("q"), call, human("next")],
    sequence: ["human", "ai", "tool:a:error", "human"],
  },
  {
    id: "DNG-04",
    what: "a late result moves behind its call",
    messages: [human("q"), call, human("x"), result],
    sequence: ["human", "ai", "tool:a", "human"],
  },
  {
    id: "DNG-05",
    what: "a result without a call is left out",
    messages: [
      { type: "tool", content: "ok", tool_call_id: "zz", name: "bash" },
      human("q"),
      { type: "ai", content: "hi" },
    ],
    sequence: ["human", "ai"],
  },
];

const turns: readonly CaseMessage[] = [1, 2, 3].flatMap((turn) => [
  { type: "human", content: String(turn), id: `h${turn}` },
  { type: "ai", content: String(turn), id: `a${turn}` },
]);

/** Summaries with "five messages" as the trigger and the last two kept. `view`: ids that the model still sees. */
export const compactions: readonly {
  id: string;
  what: string;
  messages: readonly CaseMessage[];
  answer: string | Error;
  view: readonly string[] | null;
}[] = [
  { id: "SUM-01", what: "the last two stay", messages: turns, answer: "S", view: ["h3", "a3"] },
  {
    id: "SUM-02",
    what: "a failed summary leaves all as it is",
    messages: turns,
    answer: new Error("down"),
    view: null,
  },
  {
    id: "SUM-04",
    what: "reminders and the user's newest message stay, wherever they are",
    messages: [
      {
        type: "system",
        id: "d1",
        content: "date",
        additional_kwargs: { dynamic_context_reminder: true, hide_from_ui: true },
      },
      { type: "human", content: "first", id: "h1" },
      ...[1, 2, 3, 4].map((turn) => ({ type: "ai", content: String(turn), id: `a${turn}` })),
    ],
    answer: "S",
    view: ["d1", "h1", "a3", "a4"],
  },
];

import type { CaseMessage } from "../actors/middleware/hook-bench.ts";

/** Facts of the original's todo middleware: a list of three with the second in progress, unless a case says otherwise. */
export const threeTodos = [
  { content: "step 1", status: "completed" },
  { content: "step 2", status: "in_progress" },
  { content: "step 3", status: "pending" },
] as const;

const question: CaseMessage = { type: "human", content: "q" };

/** Is the list shown again before the model is asked? */
export const listInView: readonly {
  id: string;
  what: string;
  messages: readonly CaseMessage[];
  shown: readonly string[] | null;
}[] = [
  {
    id: "TDO-03",
    what: "not while the call that wrote it is visible",
    messages: [
      { type: "human", content: "hi" },
      { type: "ai", tool_calls: [{ name: "write_todos", args: { todos: threeTodos }, id: "w1" }] },
      { type: "tool", content: "done", tool_call_id: "w1" },
    ],
    shown: null,
  },
  {
    id: "TDO-04",
    what: "not while a reminder is visible",
    messages: [
      { type: "human", content: "hi" },
      { type: "human", content: "...", name: "todo_reminder" },
    ],
    shown: null,
  },
  {
    id: "TDO-05",
    what: "the whole list, hidden from the user, when the call was compacted away",
    messages: [
      { type: "human", content: "summary" },
      { type: "ai", content: "go on" },
    ],
    shown: ["- [completed] step 1", "- [in_progress] step 2", "- [pending] step 3"],
  },
];

/** Is a model that ends with open items sent back? */
export const earlyExit: readonly {
  id: string;
  what: string;
  messages: readonly CaseMessage[];
  back: boolean;
}[] = [
  {
    id: "TDO-07",
    what: "a plain final answer is sent back",
    messages: [question, { type: "ai", content: "all done" }],
    back: true,
  },
  {
    id: "TDO-11",
    what: "a tool call that could not be parsed is no final answer",
    messages: [
      question,
      {
        type: "ai",
        invalid_tool_calls: [{ name: "bash", args: "{", id: "c", error: "x", type: "invalid_tool_call" }],
      },
    ],
    back: false,
  },
  {
    id: "TDO-13",
    what: "a function call in the provider's raw form is no final answer",
    messages: [
      question,
      { type: "ai", content: "x", additional_kwargs: { function_call: { name: "f", arguments: "{}" } } },
    ],
    back: false,
  },
  { id: "TDO-14", what: "a thread without messages is left alone", messages: [], back: false },
];

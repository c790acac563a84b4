import type { ToolOutputBudgetOptions } from "../../actors/middleware/tool-output-budget.ts";

type Content = string | readonly { readonly type: string; readonly text?: string; readonly url?: string }[];

/** A fact about one result. `file`: beginning and ending of the name of the file it goes to; `null`: it stays as it is. */
export interface ToolOutputCase {
  readonly id: string;
  readonly what: string;
  readonly config?: ToolOutputBudgetOptions;
  readonly tool: string;
  readonly content: Content;
  /** False: there is no place for files. */
  readonly folders?: boolean;
  readonly file: { readonly prefix: string; readonly extension: string } | null;
  /** The result comes inside a Command, with other parts. */
  readonly inCommand?: boolean;
}

const long = "x".repeat(20_000);
const log = { prefix: "bash", extension: ".log" };

export const toolOutputCases: readonly ToolOutputCase[] = [
  { id: "OUT-02", what: "one above the threshold", tool: "bash", content: "x".repeat(12_001), file: log },
  {
    id: "OUT-03",
    what: "another tool",
    tool: "web_search",
    content: long,
    file: { prefix: "web_search", extension: ".txt" },
  },
  { id: "OUT-05", what: "switched off", config: { enabled: false }, tool: "bash", content: long, file: null },
  {
    id: "OUT-06",
    what: "no place, below the hard limit",
    folders: false,
    tool: "bash",
    content: long,
    file: null,
  },
  {
    id: "OUT-08",
    what: "a threshold of one tool",
    config: { tool_overrides: { bash: 500 } },
    tool: "bash",
    content: "x".repeat(600),
    file: log,
  },
  {
    id: "OUT-09",
    what: "a threshold of zero is never",
    config: { tool_overrides: { bash: 0 } },
    tool: "bash",
    content: long,
    file: null,
  },
  {
    id: "OUT-11",
    what: "pictures are never cut",
    tool: "bash",
    content: [
      { type: "text", text: "x".repeat(50_000) },
      { type: "image_url", url: "data:x" },
    ],
    file: null,
  },
  {
    id: "OUT-12",
    what: "blocks of text count together",
    tool: "bash",
    content: [
      { type: "text", text: "a".repeat(8_000) },
      { type: "text", text: "b".repeat(8_000) },
    ],
    file: log,
  },
  { id: "OUT-13", what: "inside a Command", tool: "bash", content: long, file: log, inCommand: true },
];

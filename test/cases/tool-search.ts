/** The catalogue that the search cases look in. */
export const searchCatalogue = [
  { name: "github_search_repos", description: "Search GitHub repositories" },
  { name: "github_create_issue", description: "Open a GitHub issue" },
  { name: "slack_send", description: "Send a Slack message" },
  { name: "slack_search", description: "Search Slack messages" },
  { name: "mail_send", description: "Send mail" },
  { name: "calc", description: "Compute sum(a, b)" },
  ...[1, 2, 3, 4, 5, 6].map((number) => ({ name: `t_${number}`, description: "notes" })),
] as const;

export const queries: readonly { id: string; query: string; names: readonly string[]; what: string }[] = [
  { id: "TSR-01", query: "select:slack_send,calc", names: ["slack_send", "calc"], what: "exact names" },
  {
    id: "TSR-03",
    query: "select: calc , nope ",
    names: ["calc"],
    what: "names are trimmed, unknown ones ignored",
  },
  { id: "TSR-05", query: "notes", names: ["t_1", "t_2", "t_3", "t_4", "t_5"], what: "five at most" },
  {
    id: "TSR-07",
    query: "+slack send",
    names: ["slack_send", "slack_search"],
    what: "the word is in the name, the rest ranks",
  },
  { id: "TSR-08", query: "+SLACK", names: ["slack_send", "slack_search"], what: "in any case" },
  {
    id: "TSR-09",
    query: "search",
    names: ["github_search_repos", "slack_search"],
    what: "names before descriptions",
  },
  {
    id: "TSR-10",
    query: "send|issue",
    names: ["github_create_issue", "slack_send", "mail_send"],
    what: "a pattern, in the order of the catalogue",
  },
  { id: "TSR-12", query: "zzz(", names: [], what: "a broken pattern is a plain text" },
  { id: "TSR-13", query: "", names: [], what: "nothing for nothing" },
  { id: "TSR-15", query: "+", names: [], what: "a plus alone" },
  { id: "TSR-16", query: " +  ", names: [], what: "a plus and spaces" },
];

/** Which of `mcp_a`, `mcp_b` and `local` a request shows. `hash`: that of the promotion, current or an older one. */
export const visibility: readonly {
  id: string;
  what: string;
  deferred: readonly string[];
  promoted?: { hash: "current" | "old"; names: string[] };
  visible: readonly string[];
}[] = [
  {
    id: "TSR-27",
    what: "a promotion of an older catalogue opens nothing",
    deferred: ["mcp_a", "mcp_b"],
    promoted: { hash: "old", names: ["mcp_a"] },
    visible: ["local"],
  },
  {
    id: "TSR-28",
    what: "promoted tools are offered",
    deferred: ["mcp_a", "mcp_b"],
    promoted: { hash: "current", names: ["mcp_a", "mcp_b"] },
    visible: ["mcp_a", "mcp_b", "local"],
  },
  {
    id: "TSR-29",
    what: "without deferred tools all are offered",
    deferred: [],
    visible: ["mcp_a", "mcp_b", "local"],
  },
];

/** Is a call refused? */
export const guarded: readonly {
  id: string;
  what: string;
  call: string;
  promoted?: { hash: "current" | "old"; names: string[] };
  refused: boolean;
}[] = [
  {
    id: "TSR-31",
    what: "a promoted tool runs",
    call: "mcp_a",
    promoted: { hash: "current", names: ["mcp_a"] },
    refused: false,
  },
  { id: "TSR-32", what: "a tool that is not deferred runs", call: "bash", refused: false },
  {
    id: "TSR-33",
    what: "a promotion of an older catalogue does not count",
    call: "mcp_a",
    promoted: { hash: "old", names: ["mcp_a"] },
    refused: true,
  },
];

export const routing = {
  z_tool: { priority: 50, keywords: ["订单"] },
  a_tool: { priority: 50, keywords: ["orders"] },
  top_tool: { priority: 100, keywords: ["ORDERS"] },
};

export const routed: readonly {
  id: string;
  what: string;
  topK: number;
  messages: readonly string[];
  names: readonly string[] | null;
}[] = [
  {
    id: "TSR-34",
    what: "higher priority first, then by name, not more than topK",
    topK: 2,
    messages: ["查订单 and orders"],
    names: ["top_tool", "a_tool"],
  },
  {
    id: "TSR-35",
    what: "only the newest message of the user counts",
    topK: 2,
    messages: ["orders", "nothing here"],
    names: null,
  },
  {
    id: "TSR-37",
    what: "topK is kept within 1 and 5",
    topK: 9,
    messages: ["查订单 orders"],
    names: ["top_tool", "a_tool", "z_tool"],
  },
];

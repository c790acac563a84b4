import type { CountUnit } from "./step.ts";

export type Language = "en" | "zh";

/** Chinese for a request with a Chinese character, English for all others. */
export function languageOf(text: string): Language {
  return /\p{Script=Han}/u.test(text) ? "zh" : "en";
}

/** Everything that the planner says. */
export interface Wording {
  readonly firstLine: string;
  readonly unknown: (words: string) => string;
  readonly abilities: string;
  readonly progress: (step: number, steps: number, words: string) => string;
  readonly listed: (files: number, folder: string, kinds: readonly string[]) => string;
  readonly notBound: (tool: string, bound: readonly string[]) => string;
  readonly nothingBefore: string;
  readonly counted: (count: number, unit: CountUnit) => string;
  readonly total: string;
  readonly wrote: (path: string, characters: number) => string;
  readonly replaced: (from: string, to: string, path: string) => string;
  readonly found: (text: string, lines: number) => string;
  readonly ran: (command: string) => string;
  readonly planned: (items: number) => string;
  readonly presented: (files: number) => string;
  readonly summary: (path: string) => string;
  readonly failed: (what: string, reason: string) => string;
  readonly cut: (shown: number, all: number) => string;
  readonly reminded: string;
}

const firstLine = "builtin planner (rules, not an LLM). For an LLM: threadfold run --model openai:llama3.2 …";

const en: Wording = {
  firstLine,
  unknown: (words) => `I do not understand "${words}". Nothing was done for it.`,
  abilities: [
    "I follow rules and understand requests like these, joined by `then` or `and`:",
    "- list the markdown files in docs",
    "- read notes.md · summarize notes.md",
    "- count the words (lines, characters) in notes.md",
    '- search for "word" in docs',
    '- write "text" to notes.md · replace "a" with "b" in notes.md',
    "- calculate 2 * (3 + 4)",
    "- run `ls -l`",
    "- plan: first thing; second thing",
    "- present report.md",
  ].join("\n"),
  progress: (step, steps, words) => (steps === 1 ? `${words} …` : `Step ${step} of ${steps}: ${words} …`),
  listed: (files, folder, kinds) =>
    `${files} ${kinds.length > 0 ? `${kinds.join("/")} ` : ""}${files === 1 ? "file" : "files"} in ${folder}`,
  notBound: (tool, bound) =>
    `this needs the tool \`${tool}\`, which this agent does not have (it has: ${bound.join(", ") || "none"})`,
  nothingBefore: "no file is named and no step before gave one",
  counted: (count, unit) => `${count} ${count === 1 ? unit.slice(0, -1) : unit}`,
  total: "total",
  wrote: (path, characters) => `Wrote ${path} (${characters} characters).`,
  replaced: (from, to, path) => `Replaced "${from}" with "${to}" in ${path}.`,
  found: (text, lines) => `"${text}" is on ${lines} ${lines === 1 ? "line" : "lines"}`,
  ran: (command) => `Output of \`${command}\``,
  planned: (items) => `Wrote a plan of ${items} ${items === 1 ? "todo" : "todos"}.`,
  presented: (files) => `Presented ${files} ${files === 1 ? "file" : "files"}`,
  summary: (path) => `Extract of ${path} (sentences of the file, picked by word counts)`,
  failed: (what, reason) => `Could not do "${what}": ${reason}`,
  cut: (shown, all) => `… (${shown} of ${all} characters shown)`,
  reminded: "The open todos are for you: my rules cannot do them.",
};

const zh: Wording = {
  firstLine: `${firstLine}（规则程序，不是大模型）`,
  unknown: (words) => `我不明白“${words}”，没有为它做任何事。`,
  abilities: [
    "我按规则工作，能做这些（可用“然后”连接）：",
    "- 列出 docs 目录里的 markdown 文件",
    "- 读取 notes.md · 总结 notes.md",
    "- 统计 notes.md 的字数（词数、行数）",
    "- 搜索“关键词”",
    "- 把“文字”写入 notes.md · 把 notes.md 里的“甲”替换成“乙”",
    "- 计算 2 * (3 + 4)",
    "- 运行 `ls -l`",
    "- 计划：第一件事；第二件事",
    "- 展示 report.md",
  ].join("\n"),
  progress: (step, steps, words) => (steps === 1 ? `${words}……` : `第 ${step}/${steps} 步：${words}……`),
  listed: (files, folder, kinds) =>
    `${folder} 中有 ${files} 个${kinds.length > 0 ? ` ${kinds.join("/")} ` : ""}文件`,
  notBound: (tool, bound) => `需要工具 \`${tool}\`，但本智能体没有它（现有：${bound.join("、") || "无"}）`,
  nothingBefore: "没有指明文件，前面的步骤也没有给出文件",
  counted: (count, unit) => `${count} ${{ words: "词", lines: "行", characters: "字符" }[unit]}`,
  total: "合计",
  wrote: (path, characters) => `已写入 ${path}（${characters} 个字符）。`,
  replaced: (from, to, path) => `已在 ${path} 中把“${from}”替换成“${to}”。`,
  found: (text, lines) => `“${text}”出现在 ${lines} 行`,
  ran: (command) => `\`${command}\` 的输出`,
  planned: (items) => `已写下 ${items} 项待办。`,
  presented: (files) => `已展示 ${files} 个文件`,
  summary: (path) => `${path} 的摘录（按词频从原文中选出的句子）`,
  failed: (what, reason) => `“${what}”没有完成：${reason}`,
  cut: (shown, all) => `……（共 ${all} 个字符，显示 ${shown} 个）`,
  reminded: "剩下的待办需要您来完成：我的规则做不了。",
};

export function wordingFor(language: Language): Wording {
  return language === "zh" ? zh : en;
}

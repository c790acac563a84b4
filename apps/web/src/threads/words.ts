import { defineWords } from "../i18n/language.ts";

export const threadsWords = defineWords(
  {
    search: "Search title or id",
    noneTitle: "No threads yet",
    noneText: "Run an agent, or import an export, and its thread is here.",
    noneFoundTitle: "Nothing found",
    noneFoundText: (search: string) => `No title or id holds “${search}”.`,
    untitled: "Untitled",
    events: (n: string) => (n === "1" ? "1 event" : `${n} events`),
    messages: (n: string) => (n === "1" ? "1 message" : `${n} messages`),
    runs: (n: string) => (n === "1" ? "1 run" : `${n} runs`),
    fork: "Fork",
    pinned: "Pinned",
    more: "Loading more…",
  },
  {
    search: "搜索标题或编号",
    noneTitle: "还没有会话",
    noneText: "运行一个智能体或导入一个导出文件后，会话会显示在这里。",
    noneFoundTitle: "没有找到",
    noneFoundText: (search: string) => `没有标题或编号包含“${search}”。`,
    untitled: "无标题",
    events: (n: string) => `${n} 个事件`,
    messages: (n: string) => `${n} 条消息`,
    runs: (n: string) => `${n} 次运行`,
    fork: "分叉",
    pinned: "置顶",
    more: "正在加载更多…",
  },
);

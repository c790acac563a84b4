import { defineWords } from "../../i18n/language.ts";

export const messageWords = defineWords(
  {
    human: "User",
    ai: "Model",
    tool: "Tool",
    system: "System",
    calls: "Calls",
    whole: "All of it as JSON",
    empty: "no text",
  },
  {
    human: "用户",
    ai: "模型",
    tool: "工具",
    system: "系统",
    calls: "调用",
    whole: "完整 JSON",
    empty: "无文本",
  },
);

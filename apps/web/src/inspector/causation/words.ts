import { defineWords } from "../../i18n/language.ts";

export const causationWords = defineWords(
  {
    title: "What led to what",
    run: "Run",
    none: "No run yet",
    noneText: "Up to this version nothing was run. Choose a later version.",
    previous: "Earlier run",
    next: "Later run",
    tokens: "tokens",
    tokensHint: (input: string, output: string, cached: string) =>
      `${input} in (${cached} from a cache), ${output} out`,
    open: "goes on",
    ok: "done",
    failed: "failed",
    cancelled: "cancelled",
    interrupted: "waits for an answer",
    abandoned: "abandoned",
    effects: "Events",
    showEffects: "Show what they led to",
    calls: (models: string, tools: string) =>
      `${models} model ${models === "1" ? "call" : "calls"} · ${tools} tool ${tools === "1" ? "call" : "calls"}`,
    more: (n: string) => `Show ${n} more`,
    began: (time: string) => `began after ${time}`,
  },
  {
    title: "前因后果",
    run: "运行",
    none: "尚无运行",
    noneText: "到此版本为止没有运行。请选择更晚的版本。",
    previous: "上一次运行",
    next: "下一次运行",
    tokens: "词元",
    tokensHint: (input: string, output: string, cached: string) =>
      `输入 ${input}（缓存 ${cached}），输出 ${output}`,
    open: "进行中",
    ok: "完成",
    failed: "失败",
    cancelled: "已取消",
    interrupted: "等待答复",
    abandoned: "已放弃",
    effects: "事件",
    showEffects: "显示其影响",
    calls: (models: string, tools: string) => `模型调用 ${models} 次 · 工具调用 ${tools} 次`,
    more: (n: string) => `再显示 ${n} 项`,
    began: (time: string) => `${time} 后开始`,
  },
);

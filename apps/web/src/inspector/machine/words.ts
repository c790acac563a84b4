import { defineWords, type Language } from "../../i18n/language.ts";

export const machineWords = defineWords(
  {
    title: (version: string) => `Statechart at version ${version}`,
    chart: "Statechart of the thread",
    now: "Now",
    by: "by",
    last: "Last transition",
    none: "None: it is where it began.",
    turned: "The thread went to another place in its history; no way of the chart leads there.",
    ways: "Ways from here",
    noWays: "None.",
    running: "run",
    rest: "at rest",
    lit: "the current state",
    taken: "the last transition",
    idle: "idle",
    interrupted: "interrupted",
    cancelled: "cancelled",
    failed: "failed",
    beforeAgent: "beforeAgent",
    beforeModel: "beforeModel",
    model: "model",
    afterModel: "afterModel",
    tools: "tools",
    afterAgent: "afterAgent",
    settling: "settling",
    passivated: "passivated",
  },
  {
    title: (version: string) => `第 ${version} 版的状态机`,
    chart: "会话的状态机",
    now: "当前",
    by: "由",
    last: "最近一次转换",
    none: "无：仍在起点。",
    turned: "会话转到了历史中的另一处，图中没有对应的路径。",
    ways: "可能的去向",
    noWays: "无。",
    running: "运行",
    rest: "未运行",
    lit: "当前状态",
    taken: "最近一次转换",
    idle: "空闲",
    interrupted: "等待答复",
    cancelled: "已取消",
    failed: "失败",
    beforeAgent: "运行前",
    beforeModel: "调用前",
    model: "模型",
    afterModel: "调用后",
    tools: "工具",
    afterAgent: "运行后",
    settling: "收尾",
    passivated: "已休眠",
  },
);

/** A state's name in the reader's language. */
export function stateWord(name: string, chosen: Language): string {
  const word = Object.entries(machineWords[chosen]).find(([key]) => key === name)?.[1];
  return typeof word === "string" ? word : name;
}

/** Conditions of the statechart in Chinese, by their English. */
const conditions: Readonly<Record<string, string>> = {
  "it asks a human": "需要人工答复",
  "a budget is spent and it would go on": "预算用尽而仍要继续",
  "it jumps to model": "跳转到模型",
  "it jumps to tools and calls are open": "跳转到工具且有未完成的调用",
  "it jumps to end, or to tools without open calls": "跳转到结束，或跳转到工具而无未完成的调用",
  "no calls are open": "没有未完成的调用",
  "calls wait for their results": "有调用等待结果",
  otherwise: "其他情况",
  "it fails, or the run is cancelled": "失败，或运行被取消",
  "a run starts (where it stopped, when it resumes)": "运行开始（恢复时从停止处继续）",
  "it leaves memory": "离开内存",
  "RunCompleted is recorded": "已记录 RunCompleted",
  "RunInterrupted is recorded": "已记录 RunInterrupted",
  "RunCancelled is recorded": "已记录 RunCancelled",
  "RunFailed is recorded, or the end could not be recorded": "已记录 RunFailed，或结束无法记录",
};

/** A condition in the reader's language. */
export function conditionWord(when: string, chosen: Language): string {
  return chosen === "zh" ? (conditions[when] ?? when) : when;
}

import { defineWords } from "../../i18n/language.ts";

export const stateWords = defineWords(
  {
    at: (version: string) => `State at version ${version}`,
    since: (version: string) => `since ${version}`,
    untouched: "as it began",
    unsure: "perhaps later than the change itself",
    emptyTitle: "No state yet",
    emptyText: "Before the first event every field is empty.",
    copy: "Copy state as JSON",
    copied: "Copied",
    set: "Set fields",
    empty: "Empty",
  },
  {
    at: (version: string) => `第 ${version} 版的状态`,
    since: (version: string) => `自第 ${version} 版`,
    untouched: "初始值",
    unsure: "可能晚于实际变更",
    emptyTitle: "还没有状态",
    emptyText: "第一个事件之前，所有字段均为空。",
    copy: "复制状态为 JSON",
    copied: "已复制",
    set: "有值的字段",
    empty: "空",
  },
);

import { defineWords } from "../i18n/language.ts";

export const openedWords = defineWords(
  {
    title: "Open a file",
    text: "An export of threads (.ndjson, also .gz), what a fuzz run saved, or a LangGraph thread as JSON.",
    local:
      "The server checks it and keeps it in memory to show it, read only. Nothing of it is imported or stored.",
    choose: "Choose a file",
    drop: "or drop it anywhere on the page",
    dropHere: "Drop the file to look at it",
    opening: (name: string) => `Opening ${name}…`,
    notOpened: "This file cannot be shown",
    shown: (name: string) => `${name} · a file, read only`,
    someFile: "File",
    back: "Back to the threads of the server",
    tooMany: "Drop one file at a time.",
  },
  {
    title: "打开文件",
    text: "会话导出文件（.ndjson，也可为 .gz）、模糊测试保存的文件，或 LangGraph 会话的 JSON。",
    local: "服务器会检查文件并仅在内存中以只读方式显示，不会导入或存储任何内容。",
    choose: "选择文件",
    drop: "或将文件拖放到页面任意位置",
    dropHere: "松开以查看文件",
    opening: (name: string) => `正在打开 ${name}…`,
    notOpened: "无法显示此文件",
    shown: (name: string) => `${name} · 文件，只读`,
    someFile: "文件",
    back: "返回服务器的会话",
    tooMany: "每次只能拖放一个文件。",
  },
);

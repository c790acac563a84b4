import { defineWords } from "../i18n/language.ts";

export const keyWords = defineWords(
  {
    title: "Keyboard",
    close: "Close",
    page: "Page",
    help: "Show this sheet",
    dialogs: "Esc closes dialogs. Tab and Shift-Tab move between controls.",
  },
  {
    title: "键盘",
    close: "关闭",
    page: "页面",
    help: "显示此帮助",
    dialogs: "Esc 关闭对话框。Tab 与 Shift-Tab 在控件之间移动。",
  },
);

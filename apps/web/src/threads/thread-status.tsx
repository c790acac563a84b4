import type { ThreadRow } from "../api/log-api.ts";
import { defineWords, useWords } from "../i18n/language.ts";
import { Icon, type IconName } from "../parts/icon.tsx";

type Status = ThreadRow["status"];

const words = defineWords(
  {
    idle: "Idle",
    running: "Running",
    interrupted: "Waiting",
    failed: "Failed",
    cancelled: "Cancelled",
    archived: "Archived",
    erased: "Erased",
  },
  {
    idle: "空闲",
    running: "运行中",
    interrupted: "等待答复",
    failed: "失败",
    cancelled: "已取消",
    archived: "已归档",
    erased: "已清除",
  },
);

const icons: Readonly<Record<Status, IconName>> = {
  idle: "check",
  running: "run",
  interrupted: "question",
  failed: "cross",
  cancelled: "stop",
  archived: "archive",
  erased: "eraser",
};

/** A thread's status as icon and word. */
export function ThreadStatus({ status }: { readonly status: Status }) {
  const word = useWords(words)[status];
  return (
    <span className={`status status-${status}`}>
      <Icon name={icons[status]} size={14} />
      {word}
    </span>
  );
}

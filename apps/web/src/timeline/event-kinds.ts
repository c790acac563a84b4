import { useValue } from "../api/value-store.ts";
import { type Language, language } from "../i18n/language.ts";
import type { IconName } from "../parts/icon.tsx";

/** What an event is about; gives it its colour. */
export type EventFamily = "thread" | "run" | "model" | "tool" | "message" | "state";

interface EventKind {
  readonly icon: IconName;
  readonly family: EventFamily;
  readonly en: string;
  readonly zh: string;
  /** Something went wrong, or has to be looked at. */
  readonly tone?: "bad" | "warn";
}

const kind = (
  family: EventFamily,
  icon: IconName,
  en: string,
  zh: string,
  tone?: EventKind["tone"],
): EventKind => ({ family, icon, en, zh, ...(tone && { tone }) });

const kinds: Readonly<Record<string, EventKind>> = {
  ThreadCreated: kind("thread", "thread", "Thread created", "创建会话"),
  ThreadForked: kind("thread", "branch", "Forked", "分叉"),
  ThreadRewound: kind("thread", "rewind", "Rewound", "回退", "warn"),
  ThreadMetadataChanged: kind("thread", "tag", "Metadata changed", "元数据变更"),
  ThreadArchived: kind("thread", "archive", "Archived", "归档"),
  ThreadRestored: kind("thread", "archive", "Restored", "恢复"),
  ThreadErased: kind("thread", "eraser", "Erased", "清除", "warn"),
  ContentRedacted: kind("thread", "eraser", "Content redacted", "内容已删节", "warn"),
  HeadNamed: kind("thread", "flag", "Version named", "版本命名"),
  RunStarted: kind("run", "run", "Run started", "运行开始"),
  RunTakenOver: kind("run", "run", "Run taken over", "运行被接管", "warn"),
  RunCancelRequested: kind("run", "stop", "Cancel requested", "请求取消"),
  RunCapped: kind("run", "warn", "Run cut short", "运行被截短", "warn"),
  RunCompleted: kind("run", "check", "Run completed", "运行完成"),
  RunFailed: kind("run", "cross", "Run failed", "运行失败", "bad"),
  RunCancelled: kind("run", "stop", "Run cancelled", "运行取消", "warn"),
  RunInterrupted: kind("run", "question", "Waits for an answer", "等待答复", "warn"),
  InterruptResolved: kind("run", "check", "Question answered", "已答复"),
  JumpRequested: kind("run", "rewind", "Jump requested", "请求跳转"),
  ModelCallStarted: kind("model", "spark", "Model called", "调用模型"),
  ModelResponded: kind("model", "spark", "Model answered", "模型答复"),
  ModelCallFailed: kind("model", "cross", "Model call failed", "模型调用失败", "bad"),
  ToolCallStarted: kind("tool", "tool", "Tool called", "调用工具"),
  ToolCallCompleted: kind("tool", "check", "Tool done", "工具完成"),
  ToolCallFailed: kind("tool", "cross", "Tool failed", "工具失败", "bad"),
  ToolCallAbandoned: kind("tool", "warn", "Tool call abandoned", "放弃工具调用", "warn"),
  ToolOutputExternalized: kind("tool", "file", "Output moved to a file", "输出转存为文件"),
  MessagesAdded: kind("message", "message", "Messages added", "添加消息"),
  MessagesReplaced: kind("message", "edit", "Messages replaced", "替换消息"),
  MessagesRemoved: kind("message", "eraser", "Messages removed", "移除消息"),
  HistoryCompacted: kind("message", "blocks", "History compacted", "历史压缩"),
  ThreadDataBound: kind("state", "folder", "Folders bound", "绑定目录"),
  FilesUploaded: kind("state", "upload", "Files uploaded", "上传文件"),
  SandboxBound: kind("state", "blocks", "Sandbox bound", "绑定沙箱"),
  SandboxReleased: kind("state", "blocks", "Sandbox released", "释放沙箱"),
  SandboxRebound: kind("state", "blocks", "Sandbox rebound", "重新绑定沙箱", "warn"),
  ArtifactsPresented: kind("state", "file", "Files presented", "展示文件"),
  TodosWritten: kind("state", "todo", "Todos written", "写入待办"),
  TodosReminded: kind("state", "todo", "Todos reminded", "提醒待办"),
  ImagesViewed: kind("state", "image", "Images viewed", "查看图片"),
  ImagesCleared: kind("state", "image", "Images cleared", "清除图片"),
  ToolsPromoted: kind("state", "tool", "Tools promoted", "启用工具"),
  TitleSet: kind("state", "tag", "Title set", "设置标题"),
  StructuredResponseProduced: kind("state", "blocks", "Structured response", "结构化结果"),
  StateUpdated: kind("state", "edit", "State updated", "状态更新"),
  GoalSet: kind("state", "flag", "Goal set", "设定目标"),
  DelegationsRecorded: kind("state", "branch", "Delegations recorded", "记录委派"),
  SkillsLoaded: kind("state", "star", "Skills loaded", "加载技能"),
};

/** `NoteTaken` → `Note taken` */
function wordsOf(type: string): string {
  const words = type.replace(/(?<=[a-z0-9])(?=[A-Z])/g, " ").toLowerCase();
  return words.charAt(0).toUpperCase() + words.slice(1);
}

/** How an event type is shown. Types of other agents are named by their own words. */
export function kindOf(type: string): EventKind {
  const known = Object.hasOwn(kinds, type) ? kinds[type] : undefined;
  return known ?? { family: "state", icon: "square", en: wordsOf(type), zh: type };
}

/** The word of an event type in a language. */
export function kindWord(type: string, chosen: Language): string {
  return kindOf(type)[chosen];
}

/** Words of event types in the reader's language. */
export function useKindWord(): (type: string) => string {
  const chosen = useValue(language);
  return (type) => kindWord(type, chosen);
}

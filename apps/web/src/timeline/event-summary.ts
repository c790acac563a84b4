import type { RecordedEvent } from "../../../../events/envelope.ts";

interface Block {
  readonly type?: unknown;
  readonly text?: unknown;
  readonly preview?: unknown;
  readonly mimeType?: unknown;
}
interface AnyMessage {
  readonly type?: unknown;
  readonly name?: unknown;
  readonly content?: unknown;
  readonly tool_calls?: readonly { readonly name?: unknown; readonly args?: unknown }[];
}

/** First line of a value: texts as they are, everything else as JSON. */
function inLine(value: unknown): string {
  if (typeof value === "string") return value.trim().replace(/\s*\n\s*/g, " ⏎ ");
  return value === undefined ? "" : JSON.stringify(value);
}

/** What a message says, without its form. */
export function messageText({ content, tool_calls: calls = [] }: AnyMessage): string {
  const blocks: readonly unknown[] = Array.isArray(content) ? content : [content];
  const texts = blocks.map((block) => {
    if (typeof block === "string") return block;
    const { type, text, preview, mimeType } = (block ?? {}) as Block;
    if (typeof text === "string") return text;
    if (typeof preview === "string") return preview;
    return type === undefined ? "" : `[${String(mimeType ?? type)}]`;
  });
  const named = calls.map(({ name, args }) => `${String(name)}(${inLine(args).replace(/^\{|\}$/g, "")})`);
  return [...texts, ...named].filter((text) => text !== "").join(" ");
}

const messagesText = (messages: unknown) =>
  (Array.isArray(messages) ? (messages as AnyMessage[]) : [])
    .map((message) => `${String(message.type ?? "")}: ${messageText(message)}`)
    .join(" · ");

interface AnyData {
  readonly [key: string]: unknown;
}

const summaries: Readonly<Record<string, (data: AnyData) => string>> = {
  ThreadCreated: ({ metadata, source }) => inLine(source ?? metadata ?? ""),
  ThreadForked: ({ parentThreadId, parentVersion }) => `${String(parentThreadId)}@${String(parentVersion)}`,
  ThreadRewound: ({ toVersion, reason }) => [`→ ${String(toVersion)}`, inLine(reason)].join(" "),
  HeadNamed: ({ name, version }) => `${String(name)} → ${String(version ?? "–")}`,
  ContentRedacted: ({ rule, versions }) => `${String(rule)}: ${inLine(versions)}`,
  RunStarted: ({ resumes }) => (resumes === undefined ? "" : `↺ ${String(resumes)}`),
  RunCompleted: ({ stopReason }) => inLine(stopReason),
  RunCapped: ({ reason }) => inLine(reason),
  RunCancelled: ({ reason }) => inLine(reason),
  RunCancelRequested: ({ reason }) => inLine(reason),
  RunFailed: ({ error }) => errorText(error),
  RunInterrupted: ({ interrupts }) => inLine(interrupts),
  InterruptResolved: ({ decision }) => inLine(decision),
  JumpRequested: ({ to }) => `→ ${String(to)}`,
  ModelCallStarted: ({ model }) => String(model),
  ModelResponded: ({ message }) => messageText((message ?? {}) as AnyMessage),
  ModelCallFailed: ({ error }) => errorText(error),
  ToolCallStarted: ({ name, args }) => [String(name), args === undefined ? "" : inLine(args)].join(" "),
  ToolCallCompleted: ({ message }) => toolText(message),
  ToolCallFailed: ({ error, message }) => `${toolName(message)}${errorText(error)}`,
  ToolCallAbandoned: ({ reason, message }) => `${toolName(message)}${String(reason)}`,
  ToolOutputExternalized: ({ path }) => String(path),
  MessagesAdded: ({ messages }) => messagesText(messages),
  MessagesReplaced: ({ messages }) => messagesText(messages),
  MessagesRemoved: ({ ids, all }) => (all === true ? "∗" : inLine(ids)),
  HistoryCompacted: ({ summary }) => inLine(summary),
  TitleSet: ({ title }) => inLine(title ?? "–"),
  TodosWritten: ({ todos }) => todosText(todos),
  ArtifactsPresented: ({ paths }) => (Array.isArray(paths) ? paths.join(", ") : ""),
  ImagesViewed: ({ images }) => Object.keys((images ?? {}) as object).join(", "),
  ImagesCleared: () => "",
  FilesUploaded: ({ files }) =>
    (Array.isArray(files) ? files : []).map((file) => String((file as AnyData).filename)).join(", "),
  SandboxBound: ({ sandbox_id: id }) => inLine(id),
  SandboxReleased: ({ sandbox_id: id }) => inLine(id),
  ToolsPromoted: ({ names }) => (Array.isArray(names) ? names.join(", ") : ""),
  StateUpdated: ({ field, value }) => `${String(field)} = ${inLine(value)}`,
  ThreadDataBound: () => "",
};

function errorText(error: unknown): string {
  const { name, message } = (error ?? {}) as AnyData;
  return `${String(name ?? "")}: ${inLine(message)}`;
}

function toolName(message: unknown): string {
  const { name } = (message ?? {}) as AnyMessage;
  return typeof name === "string" ? `${name}: ` : "";
}

function toolText(message: unknown): string {
  return `${toolName(message)}${messageText((message ?? {}) as AnyMessage)}`;
}

function todosText(todos: unknown): string {
  const list = Array.isArray(todos) ? (todos as AnyData[]) : [];
  const done = list.filter(({ status }) => status === "completed").length;
  return `${done}/${list.length} · ${list.map(({ content }) => String(content ?? "")).join(", ")}`;
}

/** What an event holds, in one line. Names and texts of the log as they are, no sentence around them. */
export function eventSummary({ type, data }: Pick<RecordedEvent, "type" | "data">): string {
  const summary = Object.hasOwn(summaries, type) ? summaries[type] : undefined;
  const text = summary ? summary((data ?? {}) as AnyData) : inLine(data);
  return text.replace(/\s*\n\s*/g, " ⏎ ").slice(0, 400);
}

import type { RecordedEvent } from "../../events/envelope.ts";

/** Characters of a text that a line shows. */
const maxText = 90;

type Data = Readonly<Record<string, unknown>>;

function shorten(text: string): string {
  const line = text.replace(/\s+/g, " ").trim();
  return line.length > maxText ? `${line.slice(0, maxText - 1)}…` : line;
}

function textOf(content: unknown): string {
  if (typeof content === "string") return content;
  if (!Array.isArray(content)) return "";
  return content
    .map((block: unknown) => {
      if (typeof block === "string") return block;
      const { text, type } = block as Data;
      return typeof text === "string" ? text : `[${String(type)}]`;
    })
    .join(" ");
}

function messageText(message: unknown): string {
  const { content, tool_calls } = (message ?? {}) as Data;
  const calls = Array.isArray(tool_calls) ? tool_calls.map((call) => callText(call as Data)) : [];
  return [textOf(content), ...calls].filter((part) => part !== "").join(" → ");
}

/** `read_file(notes.md)`: the name and the first telling argument. */
export function callText(call: Data): string {
  const args = (call.args ?? {}) as Data;
  const named = ["command", "path", "filepaths", "query", "question"].find((key) => args[key] !== undefined);
  const shown =
    named === undefined ? Object.values(args).find((value) => typeof value === "string") : args[named];
  return `${String(call.name)}(${shown === undefined ? "" : shorten(typeof shown === "string" ? shown : JSON.stringify(shown))})`;
}

const summaries: Readonly<Record<string, (data: Data) => string>> = {
  ThreadCreated: ({ source }) => (source ? `from ${String((source as Data).format)}` : ""),
  ThreadForked: ({ parentThreadId, parentVersion }) =>
    `from ${String(parentThreadId)}@${String(parentVersion)}`,
  ThreadRewound: ({ toVersion, reason }) => `to @${String(toVersion)}${reason ? `: ${String(reason)}` : ""}`,
  RunStarted: ({ runId }) => String(runId),
  RunCompleted: ({ stopReason }) => (stopReason ? `stopped: ${String(stopReason)}` : ""),
  RunFailed: ({ error }) => String((error as Data).message),
  RunCancelled: ({ reason }) => String(reason),
  RunInterrupted: ({ interrupts }) =>
    (interrupts as Data[]).map(({ kind, id }) => `${String(kind)} ${String(id)}`).join(", "),
  ModelCallStarted: ({ model }) => String(model),
  ModelResponded: ({ message }) => messageText(message),
  ModelCallFailed: ({ error }) => String((error as Data).message),
  ToolCallStarted: ({ name }) => String(name),
  ToolCallCompleted: ({ message }) => messageText(message),
  ToolCallFailed: ({ message }) => messageText(message),
  ToolCallAbandoned: ({ reason }) => String(reason),
  MessagesAdded: ({ messages }) =>
    (messages as Data[]).map((message) => `${String(message.type)}: ${messageText(message)}`).join(" | "),
  MessagesReplaced: ({ messages }) =>
    (messages as Data[]).map((message) => `${String(message.type)}: ${messageText(message)}`).join(" | "),
  TodosWritten: ({ todos }) =>
    (todos as Data[]).map(({ status, content }) => `[${String(status)}] ${String(content)}`).join(" | "),
  ArtifactsPresented: ({ paths }) => (paths as string[]).join(", "),
  TitleSet: ({ title, origin }) => `${JSON.stringify(title)} (${String(origin)})`,
  StateUpdated: ({ field, value }) => `${String(field)} = ${JSON.stringify(value)}`,
  SandboxBound: ({ sandbox_id }) => String(sandbox_id),
};

/** What an event says, in one line for people. */
export function eventText(event: Pick<RecordedEvent, "type" | "data">): string {
  const data = (event.data ?? {}) as Data;
  const summarize = Object.hasOwn(summaries, event.type) ? summaries[event.type] : undefined;
  try {
    return shorten(summarize?.(data) ?? JSON.stringify(data));
  } catch {
    // An event of another shape than today's is shown as it is.
    return shorten(JSON.stringify(data));
  }
}

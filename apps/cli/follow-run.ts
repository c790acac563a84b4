import type { Run, RunItem, RunResult } from "../../actors/agent-contract.ts";
import type { RecordedEvent } from "../../events/envelope.ts";
import type { Message } from "../../events/message.ts";
import { callText, eventText } from "./event-line.ts";
import type { Session } from "./session.ts";

export const streamModes = ["text", "events", "none"] as const;
/** What a run shows while it goes on. */
export type StreamMode = (typeof streamModes)[number];

/** Shows a run as it goes on and gives its result. The first Ctrl-C cancels it, which is recorded. */
export async function followRun(session: Session, run: Run, mode: StreamMode): Promise<RunResult> {
  const cancel = () => void run.cancel("Ctrl-C").catch(() => undefined);
  session.signal.addEventListener("abort", cancel, { once: true });
  if (session.signal.aborted) cancel();
  const show = session.options.ndjson ? recordItems(session) : shownBy(session, mode);
  try {
    for await (const item of run) await show(item);
    return await run.result;
  } finally {
    session.signal.removeEventListener("abort", cancel);
  }
}

type Show = (item: RunItem) => Promise<void>;

function recordItems({ terminal }: Session): Show {
  return async (item) => {
    if (item.kind === "event") await terminal.record({ kind: "event", event: item.event });
    if (item.kind === "custom") await terminal.record(item);
    if (item.kind === "token" && item.text !== "") {
      const { callId, messageId, text } = item;
      await terminal.record({ kind: "token", callId, messageId, text });
    }
  };
}

function shownBy(session: Session, mode: StreamMode): Show {
  if (session.options.json || mode === "none") return async () => undefined;
  return mode === "events" ? showEvents(session) : showText(session);
}

function showEvents({ terminal }: Session): Show {
  const { bold, cyan, dim } = terminal.colors;
  return async (item) => {
    if (item.kind !== "event") return;
    const { version, type } = item.event;
    await terminal.line(
      `${bold(String(version).padStart(4))}  ${cyan(type.padEnd(20))}  ${dim(eventText(item.event))}`,
    );
  };
}

/**
 * Text as the model writes it. On a screen all of it appears at once; in a pipe only what has no tool calls behind it,
 * the rest is talk.
 */
function showText({ terminal }: Session): Show {
  const { dim } = terminal.talkColors;
  let streaming: string | undefined;
  let told = false;
  const endLine = async () => {
    if (streaming !== undefined) await terminal.write("\n");
    streaming = undefined;
  };
  const answered = async ({ message, callId }: { message: Message; callId: string }) => {
    const wasStreamed = told && streaming === callId;
    await endLine();
    told = false;
    const text = textOf(message);
    const calls = message.tool_calls ?? [];
    if (text !== "" && !wasStreamed) {
      if (calls.length === 0 || terminal.screen) await terminal.line(text);
      else terminal.say(dim(text));
    }
    for (const call of calls) terminal.say(dim(`· ${callText(call as never)}`));
  };
  return async (item) => {
    if (item.kind === "token" && terminal.screen && item.text !== "") {
      if (streaming !== undefined && streaming !== item.callId) await endLine();
      streaming = item.callId;
      told = true;
      await terminal.write(item.text);
    }
    if (item.kind !== "event") return;
    const { event } = item;
    if (event.type === "ModelResponded") await answered(event.data as never);
    else if (event.type === "ModelCallFailed") terminal.say(dim(`  model call failed: ${eventText(event)}`));
    else if (event.type === "ToolCallFailed") terminal.say(dim(`  failed: ${eventText(event)}`));
    else if (endsRun(event)) await endLine();
  };
}

function endsRun({ type }: RecordedEvent): boolean {
  return (
    type === "RunCompleted" || type === "RunFailed" || type === "RunCancelled" || type === "RunInterrupted"
  );
}

/** Text of a message, blocks joined. */
export function textOf({ content }: Pick<Message, "content">): string {
  if (typeof content === "string") return content;
  return content
    .map((block) => (typeof block === "string" ? block : typeof block.text === "string" ? block.text : ""))
    .join("");
}

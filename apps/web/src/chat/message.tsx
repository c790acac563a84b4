import { type ReactNode, useState } from "react";
import type { ShownMessage, ShownPart } from "../../../server/conversation.ts";
import { useWords } from "../i18n/language.ts";
import { useNumber } from "../i18n/shown-time.ts";
import { Icon, type IconName } from "../parts/icon.tsx";
import { go } from "../place/place.ts";
import { InertText } from "../text/inert-text.tsx";
import { visibleText } from "../text/visible-text.ts";
import { BlobView } from "../value/blob-view.tsx";
import { JsonTree } from "../value/json-tree.tsx";
import { useSize } from "../value/shown-size.ts";
import { MessageText } from "./message-text.tsx";
import { chatWords } from "./words.ts";

/** Everything that a message says. */
function MessageParts({ parts, thread }: { readonly parts: readonly ShownPart[]; readonly thread: string }) {
  const words = useWords(chatWords);
  const number = useNumber();
  return parts.map((part, index) => {
    const key = `${index}-${part.kind}`;
    if (part.kind === "other") {
      return (
        <p key={key} className="quiet">
          {words.notShown(visibleText(part.type))}
        </p>
      );
    }
    if (part.kind === "blob") {
      return (
        <div key={key} className="chat-blob">
          {part.preview !== undefined && <InertText block text={`${part.preview}…`} />}
          <BlobView thread={thread} blob={part} />
        </div>
      );
    }
    return (
      <div key={key} className="chat-text">
        <MessageText text={part.text} />
        {part.text.length < part.size && <p className="quiet">{words.cutText(number(part.size))}</p>}
      </div>
    );
  });
}

/** Goes from one way on to the next; the page then shows the thread as it was there. */
function Ways({ message, head }: { readonly message: ShownMessage; readonly head: number }) {
  const words = useWords(chatWords);
  const number = useNumber();
  const { alternatives } = message;
  const current = alternatives.findIndex((one) => one.current);
  if (alternatives.length < 2 || current === -1) return null;
  const show = (place: number) => {
    const version = alternatives[place]?.version;
    if (version !== undefined) go({ at: version === head ? undefined : String(version) });
  };
  return (
    <fieldset className="chat-ways" aria-label={words.ways}>
      <button
        type="button"
        className="icon-button"
        aria-label={words.previousWay}
        title={words.previousWay}
        disabled={current === 0}
        onClick={() => show(current - 1)}
      >
        <Icon name="back" size={13} />
      </button>
      <span>
        <Icon name="branch" size={13} /> {words.wayOf(number(current + 1), number(alternatives.length))}
      </span>
      <button
        type="button"
        className="icon-button turned"
        aria-label={words.nextWay}
        title={words.nextWay}
        disabled={current === alternatives.length - 1}
        onClick={() => show(current + 1)}
      >
        <Icon name="back" size={13} />
      </button>
    </fieldset>
  );
}

type CallState = "running" | "done" | "failed" | "waiting" | "open";

const callIcons: Readonly<Record<CallState, IconName>> = {
  running: "run",
  done: "check",
  failed: "cross",
  waiting: "question",
  open: "gap",
};

/** A call of a tool with what came of it, folded. */
function ToolCall({
  call,
  result,
  state,
  thread,
}: {
  readonly call: ShownMessage["calls"][number];
  readonly result: ShownMessage | undefined;
  readonly state: CallState;
  readonly thread: string;
}) {
  const words = useWords(chatWords);
  const [open, setOpen] = useState(false);
  const stateWord = {
    running: words.callRunning,
    done: words.callDone,
    failed: words.callFailed,
    waiting: words.callWaiting,
    open: words.callOpen,
  }[state];
  const args = call.args as Readonly<Record<string, unknown>>;
  const glimpse = Object.values(args)
    .map((value) => (typeof value === "string" ? value : JSON.stringify(value)))
    .join(" · ");
  return (
    <div className={`chat-call call-${state}`}>
      <button type="button" className="chat-call-head" aria-expanded={open} onClick={() => setOpen(!open)}>
        <Icon name="chevron" size={12} />
        <Icon name="tool" size={14} />
        <span className="chat-call-name">
          <InertText text={call.name} />
        </span>
        <span className="chat-call-glimpse quiet">
          <InertText text={glimpse.slice(0, 160)} />
        </span>
        <span className="chat-call-state">
          <Icon name={callIcons[state]} size={13} />
          {stateWord}
        </span>
      </button>
      {open && (
        <div className="chat-call-body">
          <h2>{words.args}</h2>
          <JsonTree value={args} name={call.name} depth={2} />
          {result && (
            <>
              <h2>{words.result}</h2>
              <div className="chat-result">
                <MessageParts parts={result.parts} thread={thread} />
              </div>
            </>
          )}
        </div>
      )}
    </div>
  );
}

/** Says a message of one's own in other words. */
function EditForm({
  text,
  onSend,
  onCancel,
}: {
  readonly text: string;
  readonly onSend: (text: string) => void;
  readonly onCancel: () => void;
}) {
  const words = useWords(chatWords);
  const [typed, setTyped] = useState(text);
  return (
    <form
      className="chat-edit"
      onSubmit={(event) => {
        event.preventDefault();
        if (typed.trim() !== "") onSend(typed);
      }}
    >
      <textarea
        className="field"
        aria-label={words.editLabel}
        // biome-ignore lint/a11y/noAutofocus: the form opens because its button was pressed
        autoFocus
        dir="auto"
        rows={Math.min(8, typed.split("\n").length + 1)}
        value={typed}
        onChange={(event) => setTyped(event.target.value)}
        onKeyDown={(event) => {
          if (event.key === "Escape") onCancel();
        }}
      />
      <div className="chat-actions">
        <button type="button" className="button small" onClick={onCancel}>
          {words.cancel}
        </button>
        <button type="submit" className="button small primary">
          <Icon name="branch" size={13} />
          {words.editSend}
        </button>
      </div>
    </form>
  );
}

const wholeText = ({ parts }: ShownMessage) =>
  parts.map((part) => (part.kind === "text" ? part.text : "")).join("\n");
const isCut = ({ parts }: ShownMessage) =>
  parts.some((part) => part.kind !== "text" || part.text.length < part.size);

export interface MessageActions {
  /** Undefined: messages cannot be sent here now. */
  readonly onEdit: ((message: ShownMessage, text: string) => void) | undefined;
  readonly onAgain: ((message: ShownMessage) => void) | undefined;
}

/** A message, its calls with their results, and what can be done with it. */
export function ChatMessage({
  message,
  results,
  callState,
  isLast,
  thread,
  head,
  actions,
  children,
}: {
  readonly message: ShownMessage;
  /** Results of the calls in it, by call. */
  readonly results: ReadonlyMap<string, ShownMessage>;
  readonly callState: (callId: string | undefined) => CallState;
  /** The last of its turn: it can be answered again. */
  readonly isLast: boolean;
  readonly thread: string;
  readonly head: number;
  readonly actions: MessageActions;
  readonly children?: ReactNode;
}) {
  const words = useWords(chatWords);
  const size = useSize();
  const [editing, setEditing] = useState(false);
  const { onEdit, onAgain } = actions;
  const isUser = message.type === "human";
  const who = isUser ? words.you : message.type === "ai" ? words.agent : words.tool;
  const isPlain = message.name !== undefined && !isUser && message.type !== "ai";
  return (
    <li className={`chat-message from-${isUser ? "user" : "agent"}`} data-message={message.id}>
      <span className="visually-hidden">{isPlain ? `${who} ${visibleText(message.name ?? "")}` : who}</span>
      {editing ? (
        <EditForm
          text={wholeText(message)}
          onCancel={() => setEditing(false)}
          onSend={(text) => {
            setEditing(false);
            onEdit?.(message, text);
          }}
        />
      ) : (
        <>
          {message.parts.length > 0 && (
            <div className="chat-bubble">
              <MessageParts parts={message.parts} thread={thread} />
            </div>
          )}
          {message.files.length > 0 && (
            <ul className="chat-files">
              {message.files.map((file) => (
                <li key={file.filename} className="chat-file">
                  <Icon name="file" size={13} />
                  <InertText text={file.filename} />
                  <span className="quiet">{size(file.size)}</span>
                </li>
              ))}
            </ul>
          )}
        </>
      )}
      {message.calls.map((call, index) => (
        <ToolCall
          key={call.id ?? `${index}`}
          call={call}
          result={results.get(call.id ?? "")}
          state={callState(call.id)}
          thread={thread}
        />
      ))}
      {children}
      {!editing && (
        <div className="chat-actions">
          {isUser && onEdit && message.edit !== undefined && !isCut(message) && (
            <button type="button" className="text-button" onClick={() => setEditing(true)}>
              <Icon name="edit" size={13} />
              {words.edit}
            </button>
          )}
          {isLast && onAgain && message.again !== undefined && (
            <button type="button" className="text-button" onClick={() => onAgain(message)}>
              <Icon name="again" size={13} />
              {words.again}
            </button>
          )}
          <Ways message={message} head={head} />
        </div>
      )}
    </li>
  );
}

import { useEffect, useMemo, useRef } from "react";
import type { ShownMessage } from "../../../server/conversation.ts";
import { useWords } from "../i18n/language.ts";
import { useNumber } from "../i18n/shown-time.ts";
import { Icon } from "../parts/icon.tsx";
import { Empty, Failed, Loading } from "../parts/notices.tsx";
import { go } from "../place/place.ts";
import { useMayChange } from "../shell/access.ts";
import { InertText } from "../text/inert-text.tsx";
import { useShownVersion, useThreadView } from "../thread-view/use-thread.tsx";
import { Artifacts } from "./artifacts.tsx";
import { Composer } from "./composer.tsx";
import { ChatMessage } from "./message.tsx";
import { MessageText } from "./message-text.tsx";
import { Questions } from "./questions.tsx";
import { useChat } from "./use-chat.ts";
import { chatWords } from "./words.ts";
import "./chat.css";

/** Distance from the end, in pixels, within which a reader counts as being there. */
const nearEnd = 80;

/** True for the last message of the agent before somebody else speaks. */
function endsTurn(messages: readonly ShownMessage[], place: number): boolean {
  const next = messages.slice(place + 1).find(({ type }) => type !== "tool");
  return messages[place]?.type === "ai" && next?.type !== "ai";
}

/** The conversation of the open thread at the shown version, and at the newest one the means to go on with it. */
function ThreadChat({ thread }: { readonly thread: string }) {
  const words = useWords(chatWords);
  const number = useNumber();
  const mayChange = useMayChange();
  const { head } = useThreadView();
  const { version } = useShownVersion();
  const chat = useChat();
  const { reading, live, sent, busy, problem } = chat;
  const { value } = reading;
  const isNewest = version >= head;
  const messages = value?.messages ?? [];
  const scroller = useRef<HTMLElement>(null);
  const atEnd = useRef(true);

  // biome-ignore lint/correctness/useExhaustiveDependencies: whatever is added, the end stays in view
  useEffect(() => {
    const element = scroller.current;
    if (element && atEnd.current) element.scrollTop = element.scrollHeight;
  }, [value, live.texts, sent, problem]);

  const known = useMemo(() => new Set(value?.messages.map(({ id }) => id)), [value]);
  const results = useMemo(
    () =>
      new Map(
        (value?.messages ?? []).flatMap((message) =>
          message.type === "tool" && message.toolCallId !== undefined ? [[message.toolCallId, message]] : [],
        ),
      ),
    [value],
  );
  if (reading.problem) return <Failed problem={reading.problem} />;
  if (!value) return <Loading />;

  const called = new Set(messages.flatMap(({ calls }) => calls.map(({ id }) => id)));
  const questions = isNewest && !busy ? value.interrupts : [];
  const asked = new Set(
    questions.map((question) => (question.value as { tool_call_id?: unknown } | null)?.tool_call_id),
  );
  const callState = (id: string | undefined) => {
    const result = results.get(id ?? "");
    if (result) return result.status === "error" ? "failed" : "done";
    if (asked.has(id)) return "waiting";
    return busy && isNewest ? "running" : "open";
  };
  const streamed = isNewest ? [...live.texts].filter(([id, text]) => !known.has(id) && text !== "") : [];
  const mayAct = mayChange && !busy;
  const isEmpty = messages.length === 0 && !sent && streamed.length === 0;
  const failure = problem ?? (isNewest && !busy ? (value.error ?? undefined) : undefined);
  return (
    <div className="chat">
      <section
        ref={scroller}
        className="chat-scroller"
        aria-label={words.conversation}
        // biome-ignore lint/a11y/noNoninteractiveTabindex: it is scrolled with the keyboard
        tabIndex={0}
        onScroll={({ currentTarget: { scrollHeight, scrollTop, clientHeight } }) => {
          atEnd.current = scrollHeight - scrollTop - clientHeight < nearEnd;
        }}
      >
        {value.more && (
          <button type="button" className="button small chat-earlier" onClick={chat.showEarlier}>
            {words.earlier}
          </button>
        )}
        {isEmpty && !busy && (
          <Empty icon="message" title={words.emptyTitle}>
            <p>{isNewest && mayChange ? words.emptyText : words.emptyReadOnly}</p>
          </Empty>
        )}
        <ol className="chat-messages" aria-busy={busy} data-version={value.version}>
          {messages.map((message, place) =>
            message.type === "tool" && called.has(message.toolCallId) ? null : (
              <ChatMessage
                key={message.id}
                message={message}
                results={results}
                callState={callState}
                isLast={endsTurn(messages, place)}
                thread={thread}
                head={head}
                actions={{
                  onEdit: mayAct ? (one, text) => void chat.send(text, [], one.edit) : undefined,
                  onAgain:
                    mayAct && questions.length === 0
                      ? (one) => one.again !== undefined && chat.again(one.again)
                      : undefined,
                }}
              />
            ),
          )}
          {sent && (
            <li className="chat-message from-user" data-sent>
              <span className="visually-hidden">{words.you}</span>
              <div className="chat-bubble">
                <MessageText text={sent.text} />
              </div>
              <ul className="chat-files">
                {sent.files.map((name) => (
                  <li key={name} className="chat-file">
                    <Icon name="file" size={13} />
                    <InertText text={name} />
                  </li>
                ))}
              </ul>
            </li>
          )}
          {streamed.map(([id, text]) => (
            <li key={id} className="chat-message from-agent" data-streaming>
              <span className="visually-hidden">{words.agent}</span>
              <div className="chat-bubble">
                <MessageText text={text} />
              </div>
            </li>
          ))}
          {questions.length > 0 && (
            <Questions
              key={questions.map(({ id }) => id).join()}
              questions={questions}
              disabled={!mayChange}
              onAnswer={chat.answer}
            />
          )}
        </ol>
        {busy && isNewest && (
          <p className="chat-working" role="status">
            <span className="spinner" aria-hidden="true" />
            {words.working}
          </p>
        )}
        {failure !== undefined && (
          <div className="chat-failure" role="alert">
            <Icon name="warn" />
            <div>
              <strong>{words.failed}</strong>
              <InertText block text={failure} />
            </div>
          </div>
        )}
        {isNewest && !busy && value.status === "cancelled" && (
          <p className="chat-note quiet">
            <Icon name="stop" size={13} />
            {words.cancelled}
          </p>
        )}
      </section>
      <div className="chat-foot">
        <Artifacts thread={thread} paths={value.artifacts} />
        {!isNewest && (
          <div className="chat-past" role="status">
            <Icon name="rewind" size={14} />
            <span>{words.pastVersion(number(version), number(head))}</span>
            <button type="button" className="button small" onClick={() => go({ at: undefined })}>
              {words.toNewest}
            </button>
            {mayAct && (
              <button
                type="button"
                className="button small"
                onClick={() => void chat.goOnFrom(version, words.goOnReason)}
              >
                <Icon name="branch" size={13} />
                {words.goOn}
              </button>
            )}
          </div>
        )}
        {isNewest && mayChange && (
          <Composer
            placeholder={questions.length > 0 ? words.placeholderAnswer : words.placeholder}
            busy={busy}
            onSend={(text, files) => {
              atEnd.current = true;
              return chat.send(text, files);
            }}
            onStop={chat.stop}
          />
        )}
        {isNewest && !mayChange && (
          <p className="chat-note quiet">
            <Icon name="lock" size={13} />
            {words.readOnly}
          </p>
        )}
      </div>
    </div>
  );
}

/** The pane of the open thread's conversation. */
export function Chat() {
  const { thread } = useThreadView();
  return <ThreadChat key={thread} thread={thread} />;
}

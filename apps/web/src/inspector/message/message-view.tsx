import { useState } from "react";
import type { Outline } from "../../../../../projections/json-outline.ts";
import { logApi, type ValueSource } from "../../api/log-api.ts";
import { useWords } from "../../i18n/language.ts";
import { Icon, type IconName } from "../../parts/icon.tsx";
import { Failed, Loading } from "../../parts/notices.tsx";
import { InertText } from "../../text/inert-text.tsx";
import { useReading } from "../../thread-view/use-reading.ts";
import { BlobView, blobReferenceOf } from "../../value/blob-view.tsx";
import { JsonTree } from "../../value/json-tree.tsx";
import { ValueView } from "../../value/value-view.tsx";
import { messageWords } from "./words.ts";
import "./message-view.css";

const icons: Readonly<Record<string, IconName>> = {
  human: "message",
  ai: "spark",
  tool: "tool",
  system: "star",
};

/** Who speaks in a message: icon and word; the name of a tool beside it. */
export function MessageRole({ type, name }: { readonly type: string; readonly name?: string | undefined }) {
  const words = useWords(messageWords);
  const known = (["human", "ai", "tool", "system"] as const).find((one) => one === type);
  return (
    <span className={`message-role role-${known ?? "other"}`}>
      <Icon name={icons[type] ?? "square"} size={14} />
      {known ? words[known] : <InertText text={type} />}
      {name !== undefined && (
        <span className="mono">
          <InertText text={name} />
        </span>
      )}
    </span>
  );
}

/** True for what can be shown as a message. */
export function isMessageType(type: string | undefined): boolean {
  return type !== undefined && Object.hasOwn(icons, type);
}

/** Short enough for one line. */
const isShortJson = (value: object) => JSON.stringify(value).length <= 60;

interface ShortMessage {
  readonly content?: unknown;
  readonly tool_calls?: readonly { readonly id?: string; readonly name?: string; readonly args?: object }[];
}

function Content({ content, thread }: { readonly content: unknown; readonly thread: string }) {
  const words = useWords(messageWords);
  const blocks: readonly unknown[] = Array.isArray(content) ? content : [content];
  const shown = blocks.flatMap((block, index) => {
    const key = `${index}`;
    if (typeof block === "string")
      return block === "" ? [] : [<InertText key={key} block links text={block} />];
    const { text } = (block ?? {}) as { readonly text?: unknown };
    if (typeof text === "string") return [<InertText key={key} block links text={text} />];
    const blob = blobReferenceOf(block);
    if (blob) return [<BlobView key={key} thread={thread} blob={blob} />];
    return typeof block === "object" && block !== null
      ? [<JsonTree key={key} value={block} name={key} depth={2} />]
      : [];
  });
  return shown.length === 0 ? <span className="quiet">{words.empty}</span> : shown;
}

function Short({ message, thread }: { readonly message: ShortMessage; readonly thread: string }) {
  const words = useWords(messageWords);
  const { content, tool_calls: calls = [] } = message;
  const hasText = content !== "" && !(Array.isArray(content) && content.length === 0);
  return (
    <>
      {(hasText || calls.length === 0) && <Content content={content} thread={thread} />}
      {calls.map(({ id, name, args }, index) => (
        <div key={id ?? `${index}`} className="message-call">
          <span className="message-call-name">
            <Icon name="tool" size={13} />
            {words.calls}{" "}
            <code>
              <InertText text={name ?? ""} />
            </code>
          </span>
          {args && isShortJson(args) && (
            <code className="message-call-args">
              <InertText text={JSON.stringify(args)} />
            </code>
          )}
          {args && !isShortJson(args) && <JsonTree value={args} name={name ?? ""} depth={2} />}
        </div>
      ))}
    </>
  );
}

/** A message that is too long to come whole: its content by pieces. */
function Long({ source, pointer }: { readonly source: ValueSource; readonly pointer: string }) {
  const at = source.kind === "state" ? source.at : source.version;
  const { value, problem } = useReading(`${source.kind} ${source.thread}@${at}${pointer}`, (signal) =>
    logApi.outline(source, { pointer, limit: 50 }, { signal }),
  );
  if (problem) return <Failed problem={problem} />;
  if (!value) return <Loading />;
  return (value.outline.children ?? [])
    .filter(({ key }) => key === "content" || key === "tool_calls")
    .map(({ key, ...child }) => (
      <ValueView key={key} source={source} pointer={`${pointer}/${key}`} outline={child} name={key} />
    ));
}

/** What a message says and which tools it calls, with everything else on demand. */
export function MessageView({
  source,
  pointer,
  outline,
  name,
}: {
  readonly source: ValueSource;
  readonly pointer: string;
  readonly outline: Outline;
  readonly name: string;
}) {
  const words = useWords(messageWords);
  const [whole, setWhole] = useState(false);
  return (
    <div className="message-view">
      {outline.value === undefined ? (
        <Long source={source} pointer={pointer} />
      ) : (
        <Short message={outline.value as ShortMessage} thread={source.thread} />
      )}
      <button type="button" className="message-whole" aria-expanded={whole} onClick={() => setWhole(!whole)}>
        <Icon name="chevron" size={12} />
        {words.whole}
      </button>
      {whole && <ValueView source={source} pointer={pointer} outline={outline} name={name} />}
    </div>
  );
}

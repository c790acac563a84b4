import { type ReactNode, useState } from "react";
import { compareApi, type ListedBlock, type ListedRequest } from "../../api/compare-api.ts";
import type { ValueSource } from "../../api/log-api.ts";
import { useWords } from "../../i18n/language.ts";
import { useNumber } from "../../i18n/shown-time.ts";
import { Icon } from "../../parts/icon.tsx";
import { Empty, Failed, Loading } from "../../parts/notices.tsx";
import { PlaceLink } from "../../place/place-link.tsx";
import { InertText } from "../../text/inert-text.tsx";
import { visibleText } from "../../text/visible-text.ts";
import { useReading } from "../../thread-view/use-reading.ts";
import { useShownVersion, useThreadView } from "../../thread-view/use-thread.tsx";
import { useKindWord } from "../../timeline/event-kinds.ts";
import { JsonTree } from "../../value/json-tree.tsx";
import { ValueView } from "../../value/value-view.tsx";
import { MessageRole, MessageView } from "../message/message-view.tsx";
import { CallChooser } from "./call-chooser.tsx";
import { seenWords } from "./words.ts";
import "./seen-tab.css";

/** Messages that are listed at first, and of these the newest that are open. */
const firstMessages = 100;
const openMessages = 12;

function HashCheck({ request }: { readonly request: ListedRequest }) {
  const words = useWords(seenWords);
  if (request.hashMatches) {
    return (
      <span className="hash-check fits" title={words.hashFitsText}>
        <Icon name="check" size={14} />
        {words.hashFits}
      </span>
    );
  }
  return (
    <span
      className="hash-check differs"
      title={request.isRedacted ? words.redactedText : words.hashDiffersText}
    >
      <Icon name="warn" size={14} />
      {words.hashDiffers}
    </span>
  );
}

/** A part of the request that can be folded. */
function Block({
  head,
  children,
  initiallyOpen,
  className = "",
  edit,
}: {
  readonly head: ReactNode;
  readonly children: ReactNode;
  readonly initiallyOpen: boolean;
  readonly className?: string;
  readonly edit?: string | undefined;
}) {
  const [open, setOpen] = useState(initiallyOpen);
  return (
    <li className={`seen-block ${className}`} data-edit={edit}>
      <div className="seen-block-head">
        <button type="button" className="seen-toggle" aria-expanded={open} onClick={() => setOpen(!open)}>
          <Icon name="chevron" size={12} />
          {head}
        </button>
      </div>
      {open && <div className="seen-block-body">{children}</div>}
    </li>
  );
}

/** Who brought a message, or what was done to it for this request. */
function Origin({ block, thread }: { readonly block: ListedBlock; readonly thread: string }) {
  const words = useWords(seenWords);
  const number = useNumber();
  const word = useKindWord();
  const { edit, by, origin } = block;
  const text =
    edit === "inserted"
      ? words.insertedBy(visibleText(by))
      : edit === "replaced"
        ? words.replacedBy(visibleText(by))
        : words.broughtBy(visibleText(by));
  return (
    <p className="seen-origin">
      <span className={edit ? "seen-edit" : "quiet"}>
        {edit && <Icon name={edit === "inserted" ? "plus" : "edit"} size={12} />}
        {text}
      </span>
      {origin ? (
        <PlaceLink
          to={{
            ...(origin.threadId !== thread && { thread: origin.threadId }),
            at: String(origin.version),
            tab: "event",
          }}
        >
          {word(origin.type)} {number(origin.version)}
        </PlaceLink>
      ) : (
        <span className="quiet">{words.onlyHere}</span>
      )}
    </p>
  );
}

function nameIn(value: unknown): string | undefined {
  const { name } = (value ?? {}) as { readonly name?: unknown };
  return typeof name === "string" ? name : undefined;
}

/** System message, messages, what was left out, and tools. */
function RequestParts({
  request,
  thread,
  onEarlier,
}: {
  readonly request: ListedRequest;
  readonly thread: string;
  readonly onEarlier: () => void;
}) {
  const words = useWords(seenWords);
  const number = useNumber();
  const { system, messages, tools, hidden, first, count } = request;
  const source: ValueSource = { kind: "seen", thread: request.threadId, version: request.version };
  return (
    <>
      <h3>{words.system}</h3>
      {system ? (
        <ul className="seen-blocks">
          <Block initiallyOpen={true} head={<MessageRole type="system" />} className="block-system">
            {system.by.length > 0 && (
              <p className="seen-origin quiet">{words.broughtBy(visibleText(system.by.join(", ")))}</p>
            )}
            <MessageView source={source} pointer="/system" outline={system.outline} name="system" />
          </Block>
        </ul>
      ) : (
        <p className="quiet">{words.noSystem}</p>
      )}
      <h3>
        {words.messages} <span className="seen-count">{number(count)}</span>
      </h3>
      {first > 0 && (
        <button type="button" className="button" onClick={onEarlier}>
          {words.earlier(number(first))}
        </button>
      )}
      <ul className="seen-blocks">
        {messages.map((block) => (
          <Block
            key={`${block.index} ${block.id}`}
            initiallyOpen={block.index >= count - openMessages}
            className={`block-${block.type}`}
            edit={block.edit}
            head={
              <>
                <MessageRole type={block.type} name={nameIn(block.outline.value)} />
                <code className="seen-id quiet">
                  <InertText text={block.id} />
                </code>
              </>
            }
          >
            <Origin block={block} thread={thread} />
            <MessageView
              source={source}
              pointer={`/messages/${block.index}`}
              outline={block.outline}
              name={block.id}
            />
          </Block>
        ))}
      </ul>
      {hidden.length > 0 && (
        <>
          <h3>
            {words.hidden} <span className="seen-count">{number(hidden.length)}</span>
          </h3>
          <ul className="seen-hidden">
            {hidden.map(({ id, by }) => (
              <li key={id}>
                <Icon name="minus" size={12} />
                <code>
                  <InertText text={id} />
                </code>
                <span className="seen-edit">{words.hiddenBy(visibleText(by))}</span>
              </li>
            ))}
          </ul>
        </>
      )}
      <h3>
        {words.tools} <span className="seen-count">{number(tools.length)}</span>
      </h3>
      {tools.length === 0 && <p className="quiet">{words.noTools}</p>}
      <ul className="seen-blocks">
        {tools.map(({ index, name, outline }) => (
          <Block
            key={index}
            initiallyOpen={false}
            className="block-tool-schema"
            head={
              <code>
                <InertText text={name ?? String(index)} />
              </code>
            }
          >
            <ValueView source={source} pointer={`/tools/${index}`} outline={outline} name={name ?? "tool"} />
          </Block>
        ))}
      </ul>
    </>
  );
}

/** The request of the model call at or before the shown version, exactly as it went out. */
export function SeenTab() {
  const words = useWords(seenWords);
  const number = useNumber();
  const { thread, head, events } = useThreadView();
  const { version } = useShownVersion();
  // All versions up to the next call show the same request.
  const call = events.findLast((event) => event.type === "ModelCallStarted" && event.version <= version);
  const at = call?.version ?? version;
  const [limit, setLimit] = useState(firstMessages);
  const key = head === 0 || version === 0 ? undefined : `${limit} ${thread}@${at}`;
  const { value, problem, pending } = useReading(
    key,
    (signal) => compareApi.seen(thread, { at, limit }, { signal }),
    { delayMs: 80 },
  );
  if (key === undefined || problem?.status === 404) {
    // Other runtimes record what a model answered, not what it was asked.
    const wasAnswered = events.some((event) => event.type === "ModelResponded" && event.version <= version);
    return (
      <Empty icon="spark" title={wasAnswered ? words.unrecorded : words.none}>
        <p>{wasAnswered ? words.unrecordedText : words.noneText}</p>
      </Empty>
    );
  }
  if (problem) return <Failed problem={problem} />;
  if (!value) return <Loading />;
  const isOwn = value.threadId === thread;
  return (
    <div className="tab-body seen-tab" data-call={value.version} aria-busy={pending}>
      <div className="tab-heading">
        <h2>{words.title}</h2>
        <HashCheck request={value} />
      </div>
      {isOwn ? <CallChooser /> : <p className="quiet">{words.inherited}</p>}
      <dl className="facts seen-facts">
        <dt>{words.model}</dt>
        <dd className="mono">
          <InertText text={value.model} />
        </dd>
        {value.settings !== undefined && value.settings !== null && (
          <>
            <dt>{words.settings}</dt>
            <dd>
              <JsonTree value={value.settings as object} name={words.settings} depth={1} />
            </dd>
          </>
        )}
        {value.toolChoice !== undefined && value.toolChoice !== null && (
          <>
            <dt>{words.toolChoice}</dt>
            <dd className="mono">
              <InertText text={JSON.stringify(value.toolChoice)} />
            </dd>
          </>
        )}
        <dt>{words.state}</dt>
        <dd>
          <PlaceLink
            to={{ ...(!isOwn && { thread: value.threadId }), at: String(value.stateVersion), tab: "state" }}
          >
            {words.version(number(value.stateVersion))}
          </PlaceLink>
        </dd>
        <dt>{words.hash}</dt>
        <dd className="mono">
          {value.requestHash}
          {!value.hashMatches && (
            <p className="form-problem">{value.isRedacted ? words.redactedText : words.hashDiffersText}</p>
          )}
        </dd>
      </dl>
      <RequestParts
        key={`${value.threadId}@${value.version}`}
        request={value}
        thread={thread}
        onEarlier={() => setLimit(limit * 5)}
      />
    </div>
  );
}

import { useEffect, useState } from "react";
import type { Outline } from "../../../../projections/json-outline.ts";
import { logApi, type ValueSource } from "../api/log-api.ts";
import { RequestProblem } from "../api/request.ts";
import { useWords } from "../i18n/language.ts";
import { useNumber } from "../i18n/shown-time.ts";
import { Icon } from "../parts/icon.tsx";
import { InertText } from "../text/inert-text.tsx";
import { messageText } from "../timeline/event-summary.ts";
import { BlobView, blobReferenceOf } from "./blob-view.tsx";
import { JsonTree } from "./json-tree.tsx";
import { valueWords } from "./words.ts";
import "./value-view.css";

type Child = Outline & { readonly key: string };

/** Children that are read at once. */
const pageSize = 50;

const escaped = (key: string) => key.replaceAll("~", "~0").replaceAll("/", "~1");

/** References to bytes in a value, wherever they stand; few of them. */
function blobsIn(value: unknown, found: ReturnType<typeof blobReferenceOf>[] = []): typeof found {
  const own = blobReferenceOf(value);
  if (own) found.push(own);
  else if (typeof value === "object" && value !== null && found.length < 20) {
    for (const member of Object.values(value)) blobsIn(member, found);
  }
  return found;
}

/** A value that came whole. */
function WholeValue({
  value,
  thread,
  name,
}: {
  readonly value: unknown;
  readonly thread: string;
  readonly name: string;
}) {
  if (typeof value === "string") return <InertText block links text={value} />;
  if (typeof value !== "object" || value === null)
    return <code className="json-literal">{String(value)}</code>;
  const blobs = blobsIn(value);
  return (
    <>
      <JsonTree value={value} name={name} depth={3} />
      {blobs.map((blob) => blob && <BlobView key={blob.sha256} thread={thread} blob={blob} />)}
    </>
  );
}

/** What a value is, in one line. */
export function ValueFacts({ outline }: { readonly outline: Outline }) {
  const words = useWords(valueWords);
  const number = useNumber();
  const { kind, size } = outline;
  if (kind === "array") return <span className="quiet">{words.items(number(size))}</span>;
  if (kind === "object") return <span className="quiet">{words.members(number(size))}</span>;
  if (kind === "string" && size > 60) return <span className="quiet">{words.characters(number(size))}</span>;
  return null;
}

/** A long text: its beginning, and more of it on demand. */
function LongText({
  source,
  pointer,
  outline,
}: {
  readonly source: ValueSource;
  readonly pointer: string;
  readonly outline: Outline;
}) {
  const words = useWords(valueWords);
  const [text, setText] = useState(outline.text ?? "");
  const [reading, setReading] = useState(false);
  const [problem, setProblem] = useState<string>();
  const more = async () => {
    setReading(true);
    try {
      const { outline: next } = await logApi.outline(source, { pointer, offset: text.length, limit: 250 });
      setText(text + (next.text ?? ""));
      setProblem(undefined);
    } catch (error) {
      setProblem(error instanceof RequestProblem ? error.message : String(error));
    }
    setReading(false);
  };
  return (
    <>
      <InertText block links text={text} />
      {problem !== undefined && (
        <p className="form-problem" role="alert">
          <InertText text={problem} />
        </p>
      )}
      {text.length < outline.size && (
        <button type="button" className="button small" disabled={reading} onClick={() => void more()}>
          {words.moreText}
        </button>
      )}
    </>
  );
}

function ChildRow({
  source,
  pointer,
  child,
}: {
  readonly source: ValueSource;
  readonly pointer: string;
  readonly child: Child;
}) {
  const [open, setOpen] = useState(false);
  return (
    <li className="value-child">
      <button type="button" className="value-toggle" aria-expanded={open} onClick={() => setOpen(!open)}>
        <Icon name="chevron" size={12} />
        <span className="json-label">
          <InertText text={child.key} />
        </span>
        <Glimpse outline={child} />
      </button>
      {open && (
        <div className="value-body">
          <ValueView
            source={source}
            pointer={`${pointer}/${escaped(child.key)}`}
            outline={child}
            name={child.key}
          />
        </div>
      )}
    </li>
  );
}

/** A message in one line, or any other value as JSON. */
function lineOf(value: unknown): string {
  if (typeof value === "string") return value;
  const { type, content } = (value ?? {}) as Readonly<Record<string, unknown>>;
  if (typeof type !== "string" || content === undefined) return JSON.stringify(value);
  return `${type}: ${messageText(value as Readonly<Record<string, unknown>>)}`;
}

/** The beginning of a value, so that one can choose without opening it. */
function Glimpse({ outline }: { readonly outline: Outline }) {
  const { value, text, glimpse } = outline;
  const shown = text ?? glimpse ?? (value === undefined ? undefined : lineOf(value));
  if (shown === undefined) return <ValueFacts outline={outline} />;
  return (
    <span className="value-glimpse quiet">
      <InertText text={shown.slice(0, 200)} />
    </span>
  );
}

/** A large list or object: its children by pages, each opened on its own. */
function Children({
  source,
  pointer,
  outline,
}: {
  readonly source: ValueSource;
  readonly pointer: string;
  readonly outline: Outline;
}) {
  const words = useWords(valueWords);
  const number = useNumber();
  const [children, setChildren] = useState<readonly Child[] | undefined>(outline.children);
  const [next, setNext] = useState(outline.children ? outline.next : 0);
  const [problem, setProblem] = useState<string>();
  const more = async () => {
    try {
      const answer = await logApi.outline(source, { pointer, offset: next ?? 0, limit: pageSize });
      setChildren([...(children ?? []), ...(answer.outline.children ?? [])]);
      setNext(answer.outline.next);
    } catch (error) {
      setProblem(error instanceof RequestProblem ? error.message : String(error));
    }
  };
  // Whoever opens a value wants to see what is in it.
  const isUnread = outline.children === undefined;
  // biome-ignore lint/correctness/useExhaustiveDependencies: once, when it is opened
  useEffect(() => {
    if (isUnread) void more();
  }, [isUnread]);
  return (
    <>
      <ul className="value-children" data-kind={outline.kind}>
        {(children ?? []).map((child) => (
          <ChildRow key={child.key} source={source} pointer={pointer} child={child} />
        ))}
      </ul>
      {problem !== undefined && (
        <p className="form-problem" role="alert">
          <InertText text={problem} />
        </p>
      )}
      {next !== undefined && children !== undefined && (
        <button type="button" className="button small" onClick={() => void more()}>
          {words.more(number(Math.min(pageSize, outline.size - next)))}
        </button>
      )}
    </>
  );
}

/**
 * A value of a state or of an event's data. Short ones are a tree; long ones come piece by piece.
 *
 * @param props.pointer JSON Pointer of the value in its source
 */
export function ValueView({
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
  if (outline.value !== undefined)
    return <WholeValue value={outline.value} thread={source.thread} name={name} />;
  if (outline.kind === "string") return <LongText source={source} pointer={pointer} outline={outline} />;
  return <Children source={source} pointer={pointer} outline={outline} />;
}

import { useState } from "react";
import { compareApi, type ShownOperation } from "../../api/compare-api.ts";
import { useWords } from "../../i18n/language.ts";
import { Icon } from "../../parts/icon.tsx";
import { InertText } from "../../text/inert-text.tsx";
import { JsonTree } from "../../value/json-tree.tsx";
import { ValueFacts } from "../../value/value-view.tsx";
import { diffWords } from "./words.ts";

function Value({ operation }: { readonly operation: ShownOperation }) {
  const words = useWords(diffWords);
  const { op, value, outline, from } = operation;
  if (from !== undefined)
    return (
      <code>
        ← <InertText text={from} />
      </code>
    );
  if (op === "remove") return null;
  if (outline)
    return (
      <span className="quiet">
        <ValueFacts outline={outline} /> ({words.long})
      </span>
    );
  if (typeof value === "object" && value !== null)
    return <JsonTree value={value} name={operation.path} depth={2} />;
  return (
    <code>
      <InertText text={JSON.stringify(value)} />
    </code>
  );
}

/** Several operations may stand at one path: each has its place in the patch as its key. */
function numbered(operations: readonly ShownOperation[]) {
  return operations.map((operation, place) => ({ key: `${place}`, operation }));
}

/** Copies the patch with all its values. */
function CopyPatch({ read }: { readonly read: () => Promise<readonly unknown[]> }) {
  const words = useWords(diffWords);
  const [copied, setCopied] = useState(false);
  const copy = async () => {
    await window.navigator.clipboard.writeText(JSON.stringify(await read(), null, 2));
    setCopied(true);
    window.setTimeout(() => setCopied(false), 1_500);
  };
  return (
    <button type="button" className="button" onClick={() => void copy().catch(() => undefined)}>
      <Icon name={copied ? "check" : "copy"} size={14} />
      <span role="status">{copied ? words.copied : words.copyPatch}</span>
    </button>
  );
}

/** The difference as JSON Patch (RFC 6902). */
export function PatchList({
  thread,
  at,
  pin,
  operations,
}: {
  readonly thread: string;
  readonly at: number;
  readonly pin: string | undefined;
  readonly operations: readonly ShownOperation[];
}) {
  const whole = async () => (await compareApi.patch(thread, { at, with: pin, whole: "true" })).operations;
  return (
    <div className="patch-list">
      <CopyPatch read={whole} />
      <ol className="operations">
        {numbered(operations).map(({ key, operation }) => (
          <li key={key} className="operation">
            <span className={`operation-name op-${operation.op}`}>{operation.op}</span>
            <code className="operation-path">
              <InertText text={operation.path === "" ? "/" : operation.path} />
            </code>
            <div className="operation-value">
              <Value operation={operation} />
            </div>
          </li>
        ))}
      </ol>
    </div>
  );
}

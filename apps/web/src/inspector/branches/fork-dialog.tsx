import { type FormEvent, useId, useState } from "react";
import { compareApi } from "../../api/compare-api.ts";
import { logApi } from "../../api/log-api.ts";
import { RequestProblem } from "../../api/request.ts";
import { useWords } from "../../i18n/language.ts";
import { useNumber } from "../../i18n/shown-time.ts";
import { Dialog } from "../../parts/dialog.tsx";
import { Icon } from "../../parts/icon.tsx";
import { go } from "../../place/place.ts";
import { InertText } from "../../text/inert-text.tsx";
import { branchesWords } from "./words.ts";

type Patch =
  | { readonly values?: Readonly<Record<string, unknown>> }
  | { readonly problem: "json" | "object"; readonly why: string };

/** What a reader wrote as the change of the state; an empty text is none. */
function readPatch(text: string): Patch {
  if (text.trim() === "") return {};
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch (error) {
    return { problem: "json", why: error instanceof Error ? error.message : String(error) };
  }
  if (typeof value !== "object" || value === null || Array.isArray(value))
    return { problem: "object", why: "" };
  return { values: value as Readonly<Record<string, unknown>> };
}

const messageOf = (error: unknown) => (error instanceof RequestProblem ? error.message : String(error));

/** Makes a thread that begins with this one's history, and opens it. */
export function ForkDialog({
  thread,
  version,
  onClose,
}: {
  readonly thread: string;
  readonly version: number;
  readonly onClose: () => void;
}) {
  const words = useWords(branchesWords);
  const number = useNumber();
  const hint = useId();
  const [problem, setProblem] = useState<string>();
  const [busy, setBusy] = useState(false);
  const [made, setMade] = useState<string>();
  const open = (fork: string) => {
    onClose();
    go({ thread: fork, tab: "state" });
  };
  const fork = async (text: string) => {
    const patch = readPatch(text);
    if ("problem" in patch) {
      setProblem(patch.problem === "json" ? words.patchNotJson(patch.why) : words.patchNotObject);
      return;
    }
    setBusy(true);
    setProblem(undefined);
    try {
      const { threadId } = await logApi.fork(thread, { at: version });
      if (patch.values) {
        try {
          await compareApi.update(threadId, patch.values);
        } catch (error) {
          setMade(threadId);
          setProblem(messageOf(error));
          return;
        }
      }
      open(threadId);
    } catch (error) {
      setProblem(messageOf(error));
    } finally {
      setBusy(false);
    }
  };
  const submit = (event: FormEvent<HTMLFormElement>) => {
    event.preventDefault();
    if (made !== undefined) return open(made);
    const text = new FormData(event.currentTarget).get("patch");
    void fork(typeof text === "string" ? text : "");
  };
  return (
    <Dialog title={words.forkFrom(number(version))} onClose={onClose}>
      <form className="fork-form" onSubmit={submit}>
        <p>{words.forkText(number(version))}</p>
        <label className="labelled">
          {words.patch}
          <textarea
            className="field fork-patch"
            name="patch"
            rows={5}
            spellCheck={false}
            placeholder={'{ "title": "…" }'}
            aria-describedby={hint}
            disabled={made !== undefined}
          />
        </label>
        <p id={hint} className="quiet">
          {words.patchHint}
        </p>
        {problem !== undefined && (
          <p className="form-problem" role="alert">
            {made !== undefined && `${words.forkedButNot} `}
            <InertText text={problem} />
          </p>
        )}
        <div className="dialog-actions">
          <button type="button" className="button" onClick={onClose}>
            {words.cancel}
          </button>
          <button type="submit" className="button primary" disabled={busy}>
            <Icon name="branch" size={14} />
            {made === undefined ? words.fork : words.openFork}
          </button>
        </div>
      </form>
    </Dialog>
  );
}

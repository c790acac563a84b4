import { type FormEvent, useId, useState } from "react";
import type { OpenQuestion } from "../api/chat-api.ts";
import { useWords } from "../i18n/language.ts";
import { useNumber } from "../i18n/shown-time.ts";
import { Icon } from "../parts/icon.tsx";
import { InertText } from "../text/inert-text.tsx";
import { JsonTree } from "../value/json-tree.tsx";
import { chatWords } from "./words.ts";

interface Action {
  readonly name: string;
  readonly args: Readonly<Record<string, unknown>>;
  readonly description?: string;
}

/** The question of a call that needs leave; undefined: it is another kind of question. */
function approvalOf(value: unknown) {
  const {
    action_requests: actions,
    review_configs: configs,
    problem,
  } = (value ?? {}) as {
    readonly action_requests?: readonly Action[];
    readonly review_configs?: readonly { readonly allowed_decisions?: readonly string[] }[];
    readonly problem?: string;
  };
  const [action] = Array.isArray(actions) ? actions : [];
  // A question about several calls at once has no form here: it is answered as JSON is.
  if (!action || (actions?.length ?? 0) > 1) return undefined;
  const allowed = configs?.[0]?.allowed_decisions ?? ["approve", "edit", "reject"];
  return { action, allowed, problem };
}

function Approval({
  value,
  onAnswer,
}: {
  readonly value: NonNullable<ReturnType<typeof approvalOf>>;
  readonly onAnswer: (answer: unknown) => void;
}) {
  const words = useWords(chatWords);
  const { action, allowed, problem } = value;
  const [mode, setMode] = useState<"ask" | "edit" | "reject">("ask");
  const [args, setArgs] = useState(() => JSON.stringify(action.args, null, 2));
  const [reason, setReason] = useState("");
  const [broken, setBroken] = useState(false);
  const decide = (decision: object) => onAnswer({ decisions: [decision] });
  const sendEdited = (event: FormEvent) => {
    event.preventDefault();
    try {
      const parsed: unknown = JSON.parse(args);
      if (typeof parsed !== "object" || parsed === null || Array.isArray(parsed)) throw new SyntaxError();
      decide({ type: "edit", edited_action: { name: action.name, args: parsed } });
    } catch {
      setBroken(true);
    }
  };
  return (
    <>
      <h2>
        <Icon name="question" />
        {words.approvalTitle}
      </h2>
      <p className="question-action">
        <Icon name="tool" size={14} />
        <strong>
          <InertText text={action.name} />
        </strong>
      </p>
      {problem !== undefined && (
        <p className="form-problem" role="alert">
          <InertText text={problem} />
        </p>
      )}
      {mode === "edit" ? (
        <form onSubmit={sendEdited}>
          <label className="labelled">
            {words.argsLabel}
            <textarea
              className="field code-field"
              spellCheck={false}
              rows={Math.min(14, args.split("\n").length + 1)}
              value={args}
              aria-invalid={broken}
              onChange={(event) => {
                setBroken(false);
                setArgs(event.target.value);
              }}
            />
          </label>
          {broken && (
            <p className="form-problem" role="alert">
              {words.argsBroken}
            </p>
          )}
          <div className="question-actions">
            <button type="button" className="button" onClick={() => setMode("ask")}>
              {words.cancel}
            </button>
            <button type="submit" className="button primary">
              <Icon name="check" size={14} />
              {words.approveEdited}
            </button>
          </div>
        </form>
      ) : (
        <div className="question-args">
          <JsonTree value={action.args} name={action.name} depth={2} />
        </div>
      )}
      {mode === "reject" && (
        <form
          onSubmit={(event) => {
            event.preventDefault();
            decide({ type: "reject", ...(reason.trim() !== "" && { message: reason.trim() }) });
          }}
        >
          <label className="labelled">
            {words.rejectWhy}
            <textarea
              className="field"
              dir="auto"
              rows={2}
              value={reason}
              onChange={(event) => setReason(event.target.value)}
            />
          </label>
          <div className="question-actions">
            <button type="button" className="button" onClick={() => setMode("ask")}>
              {words.cancel}
            </button>
            <button type="submit" className="button primary">
              <Icon name="cross" size={14} />
              {words.rejectSend}
            </button>
          </div>
        </form>
      )}
      {mode === "ask" && (
        <div className="question-actions">
          {allowed.includes("reject") && (
            <button type="button" className="button" onClick={() => setMode("reject")}>
              <Icon name="cross" size={14} />
              {words.reject}
            </button>
          )}
          {allowed.includes("edit") && (
            <button type="button" className="button" onClick={() => setMode("edit")}>
              <Icon name="edit" size={14} />
              {words.editArgs}
            </button>
          )}
          {allowed.includes("approve") && (
            <button type="button" className="button primary" onClick={() => decide({ type: "approve" })}>
              <Icon name="check" size={14} />
              {words.approve}
            </button>
          )}
        </div>
      )}
    </>
  );
}

function FreeAnswer({
  question,
  onAnswer,
}: {
  readonly question: OpenQuestion;
  readonly onAnswer: (answer: unknown) => void;
}) {
  const words = useWords(chatWords);
  const [typed, setTyped] = useState("");
  const id = useId();
  const value = (question.value ?? {}) as Readonly<Record<string, unknown>>;
  const asked = typeof question.value === "string" ? question.value : value.question;
  const options = Array.isArray(value.options) ? value.options.filter((one) => typeof one === "string") : [];
  return (
    <>
      <h2>
        <Icon name="question" />
        {typeof asked === "string" ? words.questionTitle : words.interruptTitle}
      </h2>
      {typeof asked === "string" ? (
        <div className="question-text" id={id}>
          <InertText block links text={asked} />
          {typeof value.context === "string" && (
            <div className="quiet">
              <InertText block links text={value.context} />
            </div>
          )}
        </div>
      ) : (
        <div className="question-args" id={id}>
          <JsonTree value={value} name={words.interruptTitle} depth={3} />
        </div>
      )}
      {options.length > 0 && (
        <div className="question-options">
          {options.map((option) => (
            <button key={option} type="button" className="button" onClick={() => onAnswer(option)}>
              <InertText text={option} />
            </button>
          ))}
        </div>
      )}
      <form
        className="question-free"
        onSubmit={(event) => {
          event.preventDefault();
          if (typed.trim() !== "") onAnswer(typed.trim());
        }}
      >
        <input
          className="field"
          dir="auto"
          aria-label={words.answer}
          aria-describedby={id}
          placeholder={words.answer}
          value={typed}
          onChange={(event) => setTyped(event.target.value)}
        />
        <button type="submit" className="button primary" disabled={typed.trim() === ""}>
          <Icon name="send" size={14} />
          {words.answerSend}
        </button>
      </form>
    </>
  );
}

/** What the run waits for. Several questions are answered together. */
export function Questions({
  questions,
  disabled,
  onAnswer,
}: {
  readonly questions: readonly OpenQuestion[];
  /** They can be read and not be answered here. */
  readonly disabled: boolean;
  readonly onAnswer: (answers: Readonly<Record<string, unknown>>) => void;
}) {
  const words = useWords(chatWords);
  const number = useNumber();
  const [answers, setAnswers] = useState<Readonly<Record<string, unknown>>>({});
  const left = questions.filter(({ id }) => !Object.hasOwn(answers, id));
  const answer = (id: string, value: unknown) => {
    const all = { ...answers, [id]: value };
    setAnswers(all);
    if (questions.every((question) => Object.hasOwn(all, question.id))) onAnswer(all);
  };
  return questions.map((question) => {
    const approval = approvalOf(question.value);
    const isDecided = Object.hasOwn(answers, question.id);
    return (
      <li key={question.id} className="chat-question">
        <fieldset disabled={disabled || isDecided}>
          {approval ? (
            <Approval value={approval} onAnswer={(value) => answer(question.id, value)} />
          ) : (
            <FreeAnswer question={question} onAnswer={(value) => answer(question.id, value)} />
          )}
        </fieldset>
        {isDecided && left.length > 0 && (
          <div className="question-decided" role="status">
            <Icon name="check" size={14} />
            {words.decided} · {words.answersLeft(number(left.length))}
            <button
              type="button"
              className="text-button"
              onClick={() =>
                setAnswers(Object.fromEntries(Object.entries(answers).filter(([id]) => id !== question.id)))
              }
            >
              {words.change}
            </button>
          </div>
        )}
      </li>
    );
  });
}

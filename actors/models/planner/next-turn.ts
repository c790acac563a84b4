import { parseRequest } from "./parse-request.ts";
import { absolutePath, outputs, workspace } from "./paths.ts";
import type { PlannedStep } from "./step.ts";
import { languageOf, type Wording, wordingFor } from "./wording.ts";
import { type CallResult, StepFailed, type StepOutcome, type WantedCall } from "./work.ts";
import { workOn } from "./work-on.ts";

/** What the planner does next: calls tools, or answers. */
export type Turn =
  | { readonly kind: "calls"; readonly text: string; readonly calls: readonly WantedCall[] }
  | { readonly kind: "answer"; readonly text: string };

/** Steps without a plan of their own words: `make a plan, then …` ticks off the steps that follow. */
function todosAt(steps: readonly PlannedStep[], done: number, failed: ReadonlySet<PlannedStep>): WantedCall {
  const statusOf = (step: PlannedStep, index: number) => {
    if (index < done) return failed.has(step) ? "pending" : "completed";
    return index === done ? "in_progress" : "pending";
  };
  const todos = steps.map((step, index) => ({ content: step.words, status: statusOf(step, index) }));
  return { name: "write_todos", args: { todos } };
}

/** A file that is presented later is written where it can be presented from. */
function placeForPresenting(steps: readonly PlannedStep[]): PlannedStep[] {
  return steps.map((planned, index) => {
    const { step } = planned;
    if (step.kind !== "write" || !step.path.startsWith(`${workspace}/`)) return planned;
    const presented = steps
      .slice(index + 1)
      .some(
        ({ step: later }) =>
          later.kind === "present" &&
          (later.target.kind === "previous" ||
            (later.target.kind === "files" && later.target.paths.includes(step.path))),
      );
    const path = absolutePath(step.path.slice(workspace.length + 1), outputs);
    return presented ? { ...planned, step: { ...step, path } } : planned;
  });
}

/**
 * Works through a request with the results that are there so far. The same request, results and tools give the same
 * turn: everything is worked out anew each time, nothing is remembered between calls.
 *
 * @param rounds results of the tool calls since the request, by assistant message
 */
export function nextTurn(
  request: string,
  rounds: readonly (readonly CallResult[])[],
  tools: readonly string[],
): Turn {
  const wording = wordingFor(languageOf(request));
  const steps = placeForPresenting(parseRequest(request));
  if (steps.length === 0) return { kind: "answer", text: `${wording.firstLine}\n\n${wording.abilities}` };
  const has = (tool: string) => tools.includes(tool);
  const left = [...rounds];
  const answers: string[] = [];
  let files: readonly string[] = [];
  let text: string | undefined;
  let ticked: readonly PlannedStep[] | undefined;
  const failed = new Set<PlannedStep>();

  for (const [index, planned] of steps.entries()) {
    const { step, words } = planned;
    const following = steps.slice(index + 1);
    const selfPlan = step.kind === "plan" && step.items.length === 0 && following.length > 0;
    if (selfPlan && has("write_todos")) ticked = following;
    const progress = wording.progress(index + 1, steps.length, words);
    const done = ticked ? ticked.length - following.length - (selfPlan ? 0 : 1) : 0;
    // The plan is written once before its first step, and after each step that has ended.
    if (ticked && (selfPlan || done > 0)) {
      const round = left.shift();
      if (!round)
        return { kind: "calls", text: selfPlan ? progress : "", calls: [todosAt(ticked, done, failed)] };
      if (selfPlan) {
        answers.push(wording.planned(ticked.length));
        continue;
      }
    }
    const turn = workThrough(planned, { has, wording, files, text }, left, tools);
    if (turn.kind === "calls") return { ...turn, text: turn.first ? progress : "" };
    const { outcome } = turn;
    answers.push(outcome.failed ? wording.failed(words, outcome.text) : outcome.text);
    if (outcome.failed) failed.add(planned);
    else text = outcome.text;
    files = outcome.files ?? files;
  }
  if (ticked && left.length === 0)
    return { kind: "calls", text: "", calls: [todosAt(ticked, ticked.length, failed)] };
  return { kind: "answer", text: [wording.firstLine, ...answers].join("\n\n") };
}

type Progress =
  | { readonly kind: "calls"; readonly calls: readonly WantedCall[]; readonly first: boolean }
  | { readonly kind: "done"; readonly outcome: StepOutcome };

function workThrough(
  { step, words }: PlannedStep,
  context: {
    has: (tool: string) => boolean;
    wording: Wording;
    files: readonly string[];
    text: string | undefined;
  },
  left: (readonly CallResult[])[],
  tools: readonly string[],
): Progress {
  const work = workOn(step, words, context);
  try {
    let next = work.next();
    for (let first = true; !next.done; first = false) {
      const calls = next.value;
      const missing = calls.find(({ name }) => !context.has(name));
      if (missing) throw new StepFailed(context.wording.notBound(missing.name, tools));
      // A round of no calls has no results to wait for.
      const results = calls.length === 0 ? [] : left.shift();
      if (!results) return { kind: "calls", calls, first };
      next = work.next(calls.map((_, index) => results[index] ?? { text: "no result", failed: true }));
    }
    return { kind: "done", outcome: next.value };
  } catch (error) {
    if (!(error instanceof StepFailed)) throw error;
    return { kind: "done", outcome: { text: error.message, failed: true } };
  }
}

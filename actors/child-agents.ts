import type { Json } from "../events/json.ts";
import type { Message } from "../events/message.ts";
import type { Interrupt } from "../events/run.ts";
import type { Agent, Run, RunOptions, RunResult, Thread } from "./agent-contract.ts";
import type { HookRuntime } from "./middleware/define-middleware.ts";
import type { Sandbox, ThreadFolders } from "./sandboxes/sandbox.ts";
import { type FoldersFor, foldersOf } from "./sandboxes/thread-folders.ts";
import type { ChildOutcome, ChildRequest, RunChild } from "./tools/task.ts";

/** Where children work: in their parent's folders and sandbox. Give both to the middlewares of the children's agents. */
export interface SharedWorkplace {
  readonly folders: FoldersFor;
  borrow(runtime: HookRuntime): Sandbox | Promise<Sandbox> | undefined;
  /** Lends a parent's place to a child until the returned function is called. */
  lend(
    threadId: string,
    place: { readonly folders: ThreadFolders; readonly sandbox?: () => Promise<Sandbox> },
  ): () => void;
}

/**
 * A place that sub-agents share with the agent that asked them.
 *
 * @example
 * const place = sharedWorkplace();
 * const child = createAgent({ model, tools: fileTools(), middleware: [
 *   threadDataMiddleware({ folders: place.folders }),
 *   sandboxMiddleware({ folders: place.folders, borrow: place.borrow }),
 * ] });
 */
export function sharedWorkplace(): SharedWorkplace {
  const places = new Map<
    string,
    { readonly folders: ThreadFolders; readonly sandbox?: () => Promise<Sandbox> }
  >();
  return {
    folders: (runtime, state) => places.get(runtime.threadId)?.folders ?? foldersOf(runtime, state),
    borrow: (runtime) => places.get(runtime.threadId)?.sandbox?.(),
    lend(threadId, place) {
      places.set(threadId, place);
      return () => {
        if (places.get(threadId) === place) places.delete(threadId);
      };
    },
  };
}

export interface ChildAgentsOptions {
  /**
   * Agents by the name that `task` knows them by. They need the parent's store; with `recovery: "continue"` a child goes
   * on after a restart exactly where it stood, else its model is asked again from there.
   */
  readonly agents: Readonly<Record<string, Agent>>;
  readonly workplace?: SharedWorkplace;
}

/** Answers to the child's questions: by id where it asked several and the answer names them, else one for all. */
function answersOf(interrupts: readonly Interrupt[], answer: Json) {
  const named = typeof answer === "object" && answer !== null && !Array.isArray(answer);
  if (named && interrupts.length > 1 && interrupts.every(({ id }) => Object.hasOwn(answer, id))) {
    return answer as Readonly<Record<string, Json>>;
  }
  return { all: answer };
}

function lastText(messages: readonly Message[]): string {
  const answer = messages.findLast(({ type }) => type === "ai");
  if (!answer) return "";
  if (typeof answer.content === "string") return answer.content;
  return answer.content
    .map((block) => (typeof block === "string" ? block : typeof block.text === "string" ? block.text : ""))
    .join("");
}

const textOf = (state: RunResult["state"]): string => lastText((state.messages ?? []) as readonly Message[]);

function outcomeOf(result: RunResult): ChildOutcome {
  switch (result.status) {
    case "completed":
      return { status: "completed", text: textOf(result.state), stopReason: result.stopReason };
    case "interrupted":
      return { status: "interrupted", interrupts: result.interrupts };
    case "failed":
      return { status: "failed", reason: result.error?.message ?? "unknown error" };
    case "cancelled":
      return { status: "cancelled", reason: "the run was cancelled" };
    default:
      return result.status satisfies never;
  }
}

/** A run that is under way already: the parent's cancel ends it, too. */
function followed(run: Run, signal: AbortSignal): Run {
  const cancel = () => {
    run.cancel("the parent was cancelled").catch(() => undefined);
  };
  if (signal.aborted) cancel();
  else signal.addEventListener("abort", cancel, { once: true });
  const forget = () => signal.removeEventListener("abort", cancel);
  run.result.then(forget, forget);
  return run;
}

/** Starts what is left to do in the child's thread; an outcome when nothing is. */
async function begin(thread: Thread, request: ChildRequest): Promise<Run | ChildOutcome> {
  const options: RunOptions = {
    parent: request.parent,
    signal: request.signal,
    context: request.runtime.context,
    configurable: request.runtime.configurable,
    by: "tool:task",
    // Another process may be at work on the child: its run is waited for.
    whenBusy: "enqueue",
  };
  // With `recovery: "continue"` a run that a process left open goes on by itself.
  const open = await thread.openRun();
  if (open) return followed(open, request.signal);
  const { version, status, interrupts } = await thread.info();
  if (version === 0) return thread.run(request.prompt, options);
  if (status === "interrupted") {
    if (request.answer === undefined) return { status: "interrupted", interrupts };
    return thread.resume(answersOf(interrupts, request.answer), options);
  }
  // A finished child is never run again: only its result was not recorded.
  if (status === "idle") return { status: "completed", text: textOf(await thread.state()) };
  return thread.run(null, options);
}

/**
 * Runs sub-agents as threads of other agents. The child's thread is found again by its id: what it finished is taken,
 * what it began goes on, what it asks goes up to the parent.
 *
 * @example
 * const runChild = childAgents({ agents: { researcher }, workplace });
 * createAgent({ model, store, middleware: [subAgentsMiddleware({ agents: { researcher: { description: "…" } }, runChild })] });
 */
export function childAgents({ agents, workplace }: ChildAgentsOptions): RunChild {
  return async (request) => {
    const { threadId, runtime } = request;
    const agent = Object.hasOwn(agents, request.agent) ? agents[request.agent] : undefined;
    if (!agent) return { status: "failed", reason: `there is no agent "${request.agent}"` };
    const takeBack = workplace?.lend(threadId, {
      folders: workplace.folders(runtime, runtime.state),
      ...(runtime.sandbox ? { sandbox: runtime.sandbox } : {}),
    });
    try {
      const begun = await begin(agent.thread(threadId), request);
      if ("status" in begun) return begun;
      for await (const item of begun) {
        if (item.kind !== "event" || item.event.type !== "ModelResponded") continue;
        request.onMessage((item.event.data as unknown as { readonly message: Message }).message);
      }
      return outcomeOf(await begun.result);
    } finally {
      takeBack?.();
    }
  };
}

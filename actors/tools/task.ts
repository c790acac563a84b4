import { createHash } from "node:crypto";
import type { z } from "zod";
import { type Delegation, DelegationsRecorded } from "../../events/delegations.ts";
import type { Json } from "../../events/json.ts";
import type { Message } from "../../events/message.ts";
import type { Interrupt } from "../../events/run.ts";
import { lazySchema } from "../../events/zod.ts";
import { interrupt } from "../interrupt.ts";
import { defineTool, type ToolRuntime } from "./define-tool.ts";

export const taskName = "task";

/** What a child is asked to do. */
export interface ChildRequest {
  /** The child's thread: the same for the same call, so that a restart finds it again. */
  readonly threadId: string;
  readonly agent: string;
  readonly prompt: string;
  readonly parent: { readonly threadId: string; readonly runId: string; readonly callId: string };
  /** Aborted when the parent's run is cancelled: cancel the child and settle when it has ended. */
  readonly signal: AbortSignal;
  /** Answer to what the child asked a human; undefined at first. */
  readonly answer: Json | undefined;
  /** The parent's side: its sandbox and folders are the child's, too. */
  readonly runtime: ToolRuntime;
  /** Tell it each answer of the child's model. */
  onMessage(message: Message): void;
}

/** How a child's run ended. */
export type ChildOutcome =
  | { readonly status: "completed"; readonly text: string; readonly stopReason?: string | undefined }
  | { readonly status: "failed" | "cancelled"; readonly reason: string }
  | { readonly status: "interrupted"; readonly interrupts: readonly Interrupt[] };

/** Runs a child to its end; goes on with a child that exists already and never runs a finished one again. */
export type RunChild = (request: ChildRequest) => Promise<ChildOutcome>;

export interface TaskToolOptions {
  /** Sub-agents by name, with what they are good for. */
  readonly agents: Readonly<Record<string, { readonly description: string }>>;
  readonly runChild: RunChild;
  /** Milliseconds for one child. Default 15 minutes. */
  readonly timeoutMs?: number;
}

const taskArguments = lazySchema((z) =>
  z.object({
    description: z.string().describe("The task in three to five words"),
    prompt: z.string().min(1).describe("Everything that the sub-agent needs to know: it sees nothing else"),
    subagent_type: z.string().describe("Which sub-agent"),
  }),
);
type TaskArguments = z.infer<ReturnType<typeof taskArguments>>;

/**
 * Id of the thread in which a call's sub-agent works, derived from the parent's thread and the call.
 *
 * @example
 * childThreadId("t1", "call_9"); // "t1-task-5f0c…"
 */
export function childThreadId(threadId: string, callId: string): string {
  const digest = createHash("sha256").update(`${threadId}\n${callId}`).digest("hex").slice(0, 16);
  return `${threadId.slice(0, 150)}-task-${digest}`;
}

/** One question passes as it is, so that a client shows it as if the parent asked; several go together. */
function askForChild(threadId: string, interrupts: readonly Interrupt[]) {
  const [only, ...more] = interrupts;
  if (only && more.length === 0) return interrupt(only.kind, only.value);
  return interrupt("subagent", {
    thread_id: threadId,
    interrupts: interrupts.map(({ id, kind, value }) => ({ id, kind, value })),
  });
}

/**
 * The tool `task`: hands work to a sub-agent, which runs in a thread of its own. The parent records the delegation and
 * the answer, nothing of what the child did.
 *
 * @example
 * taskTool({ agents: { researcher: { description: "reads the web" } }, runChild });
 */
export function taskTool(options: TaskToolOptions) {
  const { agents, runChild, timeoutMs = 15 * 60_000 } = options;
  const names = Object.keys(agents);

  const delegate = async (args: TaskArguments, runtime: ToolRuntime, answer: Json | undefined) => {
    const { description, prompt, subagent_type: agent } = args;
    if (!Object.hasOwn(agents, agent)) {
      return {
        content: `There is no sub-agent "${agent}". Use one of: ${names.join(", ")}.`,
        status: "error" as const,
        additional_kwargs: { subagent_status: "failed" },
      };
    }
    const { callId, threadId: parentId, runId } = runtime;
    const threadId = childThreadId(parentId, callId);
    const tell = (type: string, more: { readonly [key: string]: Json } = {}) =>
      runtime.writer({ type, task_id: callId, thread_id: threadId, ...more });
    const createdAt = new Date().toISOString();
    const timeOut = AbortSignal.timeout(timeoutMs);

    tell("task_started", { description, subagent_type: agent });
    let index = 0;
    const outcome = await runChild({
      threadId,
      agent,
      prompt,
      parent: { threadId: parentId, runId, callId },
      signal: AbortSignal.any([runtime.signal, timeOut]),
      answer,
      runtime,
      onMessage(message) {
        index += 1;
        tell("task_running", { message: message as unknown as Json, message_index: index });
      },
    }).catch((error: unknown): ChildOutcome => {
      const reason = error instanceof Error ? error.message : String(error);
      return { status: "failed", reason };
    });
    if (outcome.status === "interrupted") return askForChild(threadId, outcome.interrupts);

    const late = outcome.status !== "completed" && timeOut.aborted && !runtime.signal.aborted;
    const status = late ? "timed_out" : outcome.status;
    const text =
      outcome.status === "completed"
        ? outcome.text
        : `The sub-agent ${agent} ${late ? `did not finish within ${timeoutMs} ms` : `${status}: ${outcome.reason}`}.`;
    tell(`task_${status}`, outcome.status === "completed" ? { result: text } : { error: text });
    const entry: Delegation = {
      id: callId,
      status,
      subagent_type: agent,
      description,
      thread_id: threadId,
      run_id: runId,
      created_at: createdAt,
      ...(outcome.status === "completed" && outcome.stopReason ? { stop_reason: outcome.stopReason } : {}),
    };
    return {
      content: text,
      ...(outcome.status === "completed" ? {} : { status: "error" as const }),
      additional_kwargs: { subagent_status: status, subagent_thread_id: threadId },
      events: [DelegationsRecorded({ entries: [entry] })],
    };
  };

  return defineTool<TaskArguments>({
    name: taskName,
    description: [
      "Hands a task to a sub-agent, which works by itself and gives you its result. Use it for work that can be done",
      "apart; several calls in one answer run at the same time. Sub-agents:",
      ...names.map((name) => `- ${name}: ${agents[name]?.description ?? ""}`),
    ].join("\n"),
    schema: taskArguments(),
    // A call that is made again finds its child's thread, and goes on or takes the result.
    idempotent: true,
    run: (args, runtime) => delegate(args, runtime, undefined),
    onAnswer: (answer, args, runtime) => delegate(args, runtime, answer),
  });
}

import type { DataOf } from "../../events/define-event.ts";
import type { Message } from "../../events/message.ts";
import type { StateUpdated } from "../../events/state-update.ts";
import { type ToolCallCompleted, ToolCallFailed } from "../../events/tool.ts";
import type { Assembly } from "../assembly.ts";
import { toErrorData } from "../error-data.ts";
import type { AttributedDraft, ToolCallOutcome } from "./step-contract.ts";

/** Two tools that ran side by side wrote one field that has no rule for it. */
export class ParallelWriteError extends Error {
  override readonly name = "ParallelWriteError";
  constructor(
    readonly field: string,
    /** The tool whose value stands, and the one whose value was refused. */
    readonly tools: readonly [string, string],
  ) {
    super(
      `The tools ${tools[0]} and ${tools[1]} wrote the field "${field}" in one step, and it keeps only one value: that of ${tools[0]} stands. Give the field a reducer, or let the model call the tools one after the other.`,
    );
  }
}

/** Watches over the fields that the tool calls of one step write. */
export interface ParallelWrites {
  /**
   * The outcome to record. A write to a field that another call of the step has written is taken out, and the call is
   * recorded as failed: its message keeps what the tool said and tells what was refused.
   */
  admit(
    call: { readonly id: string; readonly name: string },
    outcome: ToolCallOutcome & { readonly kind: "ended" },
  ): ToolCallOutcome & { readonly kind: "ended" };
}

/**
 * Starts to watch one step: make one for each tools phase, and pass every outcome through it before it is recorded.
 *
 * @example
 * const writes = createParallelWrites(assembly);
 * record(writes.admit(call, outcome).drafts);
 */
export function createParallelWrites({ reducer }: Pick<Assembly, "reducer">): ParallelWrites {
  const writers = new Map<string, { readonly callId: string; readonly tool: string }>();

  /** The field that a draft writes, when a second write of it in the step would be lost. */
  const unruled = ({ draft }: AttributedDraft): string | undefined => {
    if (draft.type !== "StateUpdated") return undefined;
    const { field } = draft.data as DataOf<typeof StateUpdated>;
    return reducer.definitions.get(field)?.merge ? undefined : field;
  };

  return {
    admit(call, outcome) {
      const errors: ParallelWriteError[] = [];
      const drafts = outcome.drafts.filter((draft) => {
        const field = unruled(draft);
        if (field === undefined) return true;
        const writer = writers.get(field);
        if (!writer || writer.callId === call.id) {
          writers.set(field, { callId: call.id, tool: call.name });
          return true;
        }
        errors.push(new ParallelWriteError(field, [writer.tool, call.name]));
        return false;
      });
      const [first] = errors;
      if (!first) return outcome;
      return { ...outcome, returnDirect: false, drafts: drafts.map((draft) => failed(draft, errors, first)) };
    },
  };
}

function failed(
  { draft, by }: AttributedDraft,
  errors: readonly ParallelWriteError[],
  first: ParallelWriteError,
): AttributedDraft {
  if (draft.type !== "ToolCallCompleted" && draft.type !== "ToolCallFailed") return { draft, by };
  const { callId, message, durationMs } = draft.data as DataOf<typeof ToolCallCompleted>;
  const note = errors.map((error) => error.message).join("\n");
  return {
    draft: ToolCallFailed({
      callId,
      message: { ...message, content: withNote(message.content, note), status: "error" },
      error: toErrorData(first),
      durationMs,
    }),
    by,
  };
}

function withNote(content: Message["content"], note: string): Message["content"] {
  if (typeof content !== "string") return [...content, { type: "text", text: note }];
  return content === "" ? note : `${content}\n\n${note}`;
}

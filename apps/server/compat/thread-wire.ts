import type { ThreadStatus } from "../../../actors/agent-contract.ts";
import type { Interrupt } from "../../../events/run.ts";
import type { ListedThread } from "../../../projections/thread-list.ts";
import type { State } from "../../../reducers/thread-state.ts";
import { type Served, shownThread, wireOptionsFor } from "../served.ts";
import type { CheckpointRow } from "./checkpoint-rows.ts";
import { wireValues } from "./wire-values.ts";

const wireStatuses: Readonly<Record<string, "idle" | "busy" | "interrupted" | "error">> = {
  running: "busy",
  interrupted: "interrupted",
  failed: "error",
};

/** LangGraph's word for a thread's status. */
export function wireStatus(status: ThreadStatus | ListedThread["status"]): string {
  return wireStatuses[status] ?? "idle";
}

/** The task that questions hang on. */
function taskIdOf(interrupts: readonly Interrupt[]): string {
  return interrupts[0]?.callId ?? interrupts[0]?.id ?? "";
}

function wireInterrupts(interrupts: readonly Interrupt[]) {
  return interrupts.map(({ id, value }) => ({ id, value }));
}

/** Fields of a state that `select` names as `values.<field>`; undefined: all, or no values at all. */
function selectedFields(select: readonly string[] | undefined | null): readonly string[] | undefined {
  const fields = select?.filter((key) => key.startsWith("values.")).map((key) => key.slice("values.".length));
  return fields?.length && !select?.includes("values") ? fields : undefined;
}

/** Keys of an object that `select` asks for. */
export function selected<Value extends object>(value: Value, select: readonly string[] | undefined | null) {
  if (!select?.length) return value;
  const keys = new Set(select.map((key) => key.split(".")[0]));
  return Object.fromEntries(Object.entries(value).filter(([key]) => keys.has(key)));
}

function wantsValues(select: readonly string[] | undefined | null): boolean {
  return !select?.length || select.some((key) => key === "values" || key.startsWith("values."));
}

/** A thread as LangGraph's clients read it. */
export async function wireThread(
  served: Served,
  row: ListedThread,
  options: { readonly select?: readonly string[] | null | undefined; readonly inlineBlobBytes?: number } = {},
): Promise<Record<string, unknown>> {
  const { select, inlineBlobBytes } = options;
  const { threadId, createdAt, updatedAt, metadata } = row;
  const thread = shownThread(served, metadata.graph_id, threadId);
  const needsLog = wantsValues(select) || row.status === "interrupted";
  const snapshot = needsLog ? await thread.snapshot() : undefined;
  const wire = wireOptionsFor(served, threadId, inlineBlobBytes);
  const interrupts = snapshot?.interrupts ?? [];
  const values = snapshot && wantsValues(select) ? snapshot.state : undefined;
  const { owner: _owner, ...shown } = metadata;
  const whole = {
    thread_id: threadId,
    created_at: createdAt,
    updated_at: updatedAt,
    state_updated_at: updatedAt,
    metadata: shown,
    config: {},
    status: wireStatus(snapshot?.status ?? row.status),
    ...(values && { values: await wireValues(values, wire, selectedFields(select)) }),
    interrupts: interrupts.length > 0 ? { [taskIdOf(interrupts)]: wireInterrupts(interrupts) } : {},
  };
  return selected(whole, select);
}

/** What a checkpoint needs besides its row. */
export interface StateSource {
  readonly threadId: string;
  readonly row: CheckpointRow | undefined;
  readonly state: State;
  /** Questions that are still open; default: all that the row ended with. */
  readonly open?: readonly Interrupt[];
  readonly createdAt: string;
  readonly select?: readonly string[] | undefined | null;
}

/** A state as LangGraph's clients read it. While a run is open nothing is next: clients would take it for a pause. */
export async function wireState(served: Served, source: StateSource): Promise<Record<string, unknown>> {
  const { threadId, row, state, createdAt, select } = source;
  const asked = (row?.interrupts ?? []).filter(
    ({ id }) => source.open === undefined || source.open.some((interrupt) => interrupt.id === id),
  );
  const error = row?.error && `${row.error.name}: ${row.error.message}`;
  const checkpoint = (id: string | null, ofThread: string) => ({
    thread_id: ofThread,
    checkpoint_ns: "",
    checkpoint_id: id,
    checkpoint_map: null,
  });
  const task = (name: string, id: string, message: string | null) => ({
    id,
    name,
    path: ["__pregel_pull", name],
    error: message,
    interrupts: wireInterrupts(asked),
    checkpoint: null,
    state: null,
    result: null,
  });
  const tasks = [
    ...(asked.length > 0 ? [task("tools", taskIdOf(asked), null)] : []),
    ...(error ? [task("model_request", row?.runId ?? "", error)] : []),
  ];
  const isRoot = row?.parentId === null;
  const whole = {
    values: wantsValues(select)
      ? await wireValues(state, wireOptionsFor(served, threadId), selectedFields(select))
      : {},
    next: asked.length > 0 ? ["tools"] : [],
    tasks,
    metadata: {
      source: row?.source ?? "input",
      step: isRoot || !row ? -1 : row.version - 1,
      thread_id: threadId,
      ...(row?.runId !== undefined && { run_id: row.runId }),
    },
    created_at: createdAt,
    checkpoint: checkpoint(row?.id ?? null, threadId),
    parent_checkpoint: row?.parentId ? checkpoint(row.parentId, threadId) : null,
  };
  return selected(whole, select);
}

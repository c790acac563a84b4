import { SandboxBound } from "../events/sandbox.ts";
import { defineReducer } from "./define-reducer.ts";

/** The sandbox of a thread. An object without an id counts as bound to nothing, which is not the same as unbound. */
export interface SandboxState {
  readonly sandbox_id?: string | null;
}

/** A thread that has a sandbox was given another one. Picking one of the two could hand out a stranger's files. */
export class SandboxConflictError extends Error {
  override readonly name = "SandboxConflictError";
  constructor(
    readonly bound: string | null,
    readonly offered: string | null,
  ) {
    super(
      `The thread is bound to sandbox ${bound ?? "(none)"} and cannot take ${offered ?? "(none)"}. Record SandboxRebound when the provider lost the first one.`,
    );
  }
}

function bind(current: SandboxState | null | undefined, offered: SandboxState): SandboxState {
  if (current == null) return offered;
  const bound = current.sandbox_id ?? null;
  const next = offered.sandbox_id ?? null;
  if (bound !== next) throw new SandboxConflictError(bound, next);
  return current;
}

function rebind(current: SandboxState | null | undefined, previous: string, next: string): SandboxState {
  const bound = current?.sandbox_id ?? null;
  if (current && bound === next) return current;
  if (bound !== previous) throw new SandboxConflictError(bound, next);
  return { sandbox_id: next };
}

/** The first sandbox stays; another one is refused unless it takes the place of the one that is bound. */
export const sandbox = defineReducer<SandboxState | null | undefined>({
  field: "sandbox",
  initial: undefined,
  algebra: "fail-closed",
  on: {
    SandboxBound: (current, data) => bind(current, data),
    SandboxRebound: (current, data) => rebind(current, data.previous, data.sandbox_id),
  },
  merge: (current, update) => (update == null ? current : bind(current, update as SandboxState)),
  fromUpdate(update, current) {
    if (update == null) return [];
    const offered = update as SandboxState;
    const same = current != null && (current.sandbox_id ?? null) === (offered.sandbox_id ?? null);
    return same ? [] : [SandboxBound("sandbox_id" in offered ? { sandbox_id: offered.sandbox_id } : {})];
  },
});

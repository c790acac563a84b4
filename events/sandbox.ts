import { defineEvent } from "./define-event.ts";
import { lazySchema } from "./zod.ts";

const id = lazySchema((z) => z.string().nullable().optional());

/** The thread got its sandbox. The same id again changes nothing; another id is refused. */
export const SandboxBound = defineEvent({
  type: "SandboxBound",
  schema: (z) => z.object({ sandbox_id: id() }),
});

/** The sandbox went back to its provider after a run. The id stays in state. */
export const SandboxReleased = defineEvent({
  type: "SandboxReleased",
  schema: (z) => z.object({ sandbox_id: z.string() }),
});

/** The provider had lost the sandbox and gave another. */
export const SandboxRebound = defineEvent({
  type: "SandboxRebound",
  schema: (z) => z.object({ sandbox_id: z.string(), previous: z.string() }),
});

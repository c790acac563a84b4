import { defineEvent } from "./define-event.ts";
import { oneMessageSchema } from "./message.ts";
import { errorSchema } from "./run.ts";
import { lazySchema } from "./zod.ts";

const callId = lazySchema((z) => z.string().min(1));
const durationMs = lazySchema((z) => z.number().nonnegative());

/** A tool is about to run. `args` is there only when they differ from those in the assistant message. */
export const ToolCallStarted = defineEvent({
  type: "ToolCallStarted",
  schema: (z) =>
    z.object({ callId: callId(), name: z.string(), args: z.record(z.string(), z.json()).optional() }),
  content: ["args"],
});

/** `message` is the tool message as it enters the conversation. */
export const ToolCallCompleted = defineEvent({
  type: "ToolCallCompleted",
  schema: (z) => z.object({ callId: callId(), message: oneMessageSchema(), durationMs: durationMs() }),
  content: ["message"],
});

export const ToolCallFailed = defineEvent({
  type: "ToolCallFailed",
  schema: (z) =>
    z.object({
      callId: callId(),
      message: oneMessageSchema(),
      error: errorSchema(),
      durationMs: durationMs(),
    }),
  content: ["message", "error.message"],
});

/** A call got no result: cancelled, refused, or its outcome is unknown after a crash. */
export const ToolCallAbandoned = defineEvent({
  type: "ToolCallAbandoned",
  schema: (z) => z.object({ callId: callId(), message: oneMessageSchema(), reason: z.string() }),
  content: ["message"],
});

/** A long result was moved to a file that the model can read; the message holds a preview. */
export const ToolOutputExternalized = defineEvent({
  type: "ToolOutputExternalized",
  schema: (z) =>
    z.object({
      callId: callId(),
      path: z.string(),
      size: z.number().int().nonnegative(),
      sha256: z.string(),
    }),
});

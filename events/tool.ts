import { z } from "zod";
import { defineEvent } from "./define-event.ts";
import { oneMessageSchema } from "./message.ts";
import { errorSchema } from "./run.ts";

const callId = z.string().min(1);
const durationMs = z.number().nonnegative();

/** A tool is about to run. `args` is there only when they differ from those in the assistant message. */
export const ToolCallStarted = defineEvent({
  type: "ToolCallStarted",
  schema: z.object({ callId, name: z.string(), args: z.record(z.string(), z.json()).optional() }),
  content: ["args"],
});

/** `message` is the tool message as it enters the conversation. */
export const ToolCallCompleted = defineEvent({
  type: "ToolCallCompleted",
  schema: z.object({ callId, message: oneMessageSchema, durationMs }),
  content: ["message"],
});

export const ToolCallFailed = defineEvent({
  type: "ToolCallFailed",
  schema: z.object({ callId, message: oneMessageSchema, error: errorSchema, durationMs }),
  content: ["message", "error.message"],
});

/** A call got no result: cancelled, refused, or its outcome is unknown after a crash. */
export const ToolCallAbandoned = defineEvent({
  type: "ToolCallAbandoned",
  schema: z.object({ callId, message: oneMessageSchema, reason: z.string() }),
  content: ["message"],
});

/** A long result was moved to a file that the model can read; the message holds a preview. */
export const ToolOutputExternalized = defineEvent({
  type: "ToolOutputExternalized",
  schema: z.object({ callId, path: z.string(), size: z.number().int().nonnegative(), sha256: z.string() }),
});

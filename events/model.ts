import type { z } from "zod";
import { defineEvent } from "./define-event.ts";
import { messagesSchema, oneMessageSchema } from "./message.ts";
import { errorSchema } from "./run.ts";
import { lazySchema } from "./zod.ts";

const by = lazySchema((z) => z.string());

/**
 * One edit that a middleware made to the messages of a request. Edits stay in force for later calls of the thread
 * until `restore` or `drop` takes them back, so that a call records only what is new.
 */
export const viewEditSchema = lazySchema((z) =>
  z.discriminatedUnion("op", [
    /** Extra messages after the message `after` (null: at the front). `key` names the edit. */
    z.object({
      op: z.literal("insert"),
      key: z.string(),
      after: z.string().nullable(),
      messages: messagesSchema(),
      digest: z.string(),
      by: by(),
    }),
    /** Another body for the message `id` in this request only. */
    z.object({
      op: z.literal("replace"),
      id: z.string(),
      message: oneMessageSchema(),
      digest: z.string(),
      by: by(),
    }),
    /** Messages that the model did not see. */
    z.object({ op: z.literal("hide"), ids: z.array(z.string()).min(1), by: by() }),
    /** The messages `ids` are shown as they are in state again. */
    z.object({ op: z.literal("restore"), ids: z.array(z.string()).min(1), by: by() }),
    /** The insertion `key` is gone. */
    z.object({ op: z.literal("drop"), key: z.string(), by: by() }),
  ]),
);
export type ViewEdit = z.infer<ReturnType<typeof viewEditSchema>>;

/** How to rebuild the messages of a request: those of the state at `version`, with the edits in force. */
const viewSchema = lazySchema((z) =>
  z.object({
    /** Version of the stream whose folded state was shown. */
    version: z.number().int().nonnegative(),
    /** Model call whose edits this view starts from; null: from none. */
    from: z.string().nullable(),
    edits: z.array(viewEditSchema()),
    /** Where the edits are in the blob store, as JSON, when they are too long for an event; `edits` is empty then. */
    blob: z
      .object({
        sha256: z.string(),
        /** Blobs that the edits refer to. */
        holds: z.array(z.object({ sha256: z.string() })).optional(),
      })
      .optional(),
    /** Digest of the system prompt in the blob store, with the middlewares that wrote it; null: no system prompt. */
    system: z
      .object({
        sha256: z.string(),
        by: z.array(z.string()),
        /** The blob holds a message as JSON and not the bare text: the prompt has blocks or keys of its own. */
        message: z.literal(true).optional(),
      })
      .nullable(),
  }),
);
export type View = z.infer<ReturnType<typeof viewSchema>>;

export const ModelCallStarted = defineEvent({
  type: "ModelCallStarted",
  schema: (z) =>
    z.object({
      callId: z.string().min(1),
      model: z.string(),
      view: viewSchema(),
      /** Digest of the tool schemas in the blob store; null: no tools were offered. */
      tools: z.string().nullable(),
      settings: z.record(z.string(), z.json()).optional(),
      toolChoice: z.json().optional(),
      requestHash: z.string(),
    }),
  content: ["view.edits"],
});

const usageSchema = lazySchema((z) =>
  z.looseObject({
    input_tokens: z.number().optional(),
    output_tokens: z.number().optional(),
    total_tokens: z.number().optional(),
  }),
);

export const ModelResponded = defineEvent({
  type: "ModelResponded",
  schema: (z) =>
    z.object({
      callId: z.string().min(1),
      /** The assistant message as it enters the conversation. */
      message: oneMessageSchema(),
      usage: usageSchema().optional(),
      latencyMs: z.number().nonnegative(),
      finishReason: z.string().optional(),
    }),
  content: ["message"],
});

export const ModelCallFailed = defineEvent({
  type: "ModelCallFailed",
  schema: (z) =>
    z.object({
      callId: z.string().min(1),
      error: errorSchema(),
      attempt: z.number().int().positive().optional(),
    }),
  content: ["error.message"],
});

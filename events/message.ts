import type { z } from "zod";
import { lazySchema } from "./zod.ts";

/** A reference to bytes in the blob store. */
export const blobReferenceSchema = lazySchema((z) =>
  z.object({
    /** Lower-case hex SHA-256 of the bytes: the key in the blob store. */
    sha256: z.string().regex(/^[0-9a-f]{64}$/),
    mimeType: z.string(),
    /** Bytes. */
    size: z.number().int().nonnegative(),
  }),
);
export type BlobReference = z.infer<ReturnType<typeof blobReferenceSchema>>;

/**
 * A chat message as it stands in events, in state and on the wire: LangChain's dictionary form with the type beside
 * the other keys. Keys that are not named here are kept as they came.
 */
export const messageSchema = lazySchema((z) =>
  z.looseObject({
    id: z.string().min(1),
    type: z.string().min(1),
    content: z.union([z.string(), z.array(z.union([z.string(), z.looseObject({ type: z.string() })]))]),
  }),
);

export interface ToolCall {
  readonly id?: string;
  readonly name: string;
  readonly args: { readonly [key: string]: unknown };
  readonly type?: string;
}

/** A message in state. `type` is `human`, `ai`, `tool`, `system` or another role of LangChain's. */
export interface Message {
  readonly id: string;
  readonly type: string;
  readonly content: string | readonly (string | { readonly type: string; readonly [key: string]: unknown })[];
  readonly name?: string | null;
  readonly tool_calls?: readonly ToolCall[];
  readonly tool_call_id?: string;
  readonly status?: string;
  readonly additional_kwargs?: { readonly [key: string]: unknown };
  readonly [key: string]: unknown;
}

export const messagesSchema = lazySchema(
  (z) => z.array(messageSchema()) as unknown as z.ZodType<readonly Message[]>,
);
export const oneMessageSchema = messageSchema as unknown as () => z.ZodType<Message>;

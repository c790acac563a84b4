import type { Json } from "../events/json.ts";

/** Bytes that an event refers to. */
export interface BlobMention {
  readonly sha256: string;
  /** Undefined where the event does not say. */
  readonly mimeType: string | undefined;
}

const digest = /^[0-9a-f]{64}$/;

function* walk(value: Json): Generator<BlobMention> {
  if (typeof value !== "object" || value === null) return;
  if (Array.isArray(value)) {
    for (const item of value) yield* walk(item);
    return;
  }
  const { sha256, mimeType, mime_type } = value as { readonly [key: string]: Json };
  if (typeof sha256 === "string" && digest.test(sha256)) {
    const type = mimeType ?? mime_type;
    yield { sha256, mimeType: typeof type === "string" ? type : undefined };
  }
  for (const member of Object.values(value)) yield* walk(member);
}

/** What an event refers to in the blob store, each digest once: `sha256` members, and the tools of a model call. */
export function blobsOf(event: { readonly type: string; readonly data: Json }): BlobMention[] {
  const mentions = new Map<string, BlobMention>();
  for (const mention of walk(event.data)) {
    if (!mentions.has(mention.sha256)) mentions.set(mention.sha256, mention);
  }
  if (event.type === "ModelCallStarted") {
    const { tools } = event.data as { readonly tools?: Json };
    if (typeof tools === "string" && digest.test(tools)) {
      mentions.set(tools, { sha256: tools, mimeType: "application/json" });
    }
  }
  // A file that a tool's output was moved to is named with its digest, but lies in the thread's folder.
  return event.type === "ToolOutputExternalized" ? [] : [...mentions.values()];
}

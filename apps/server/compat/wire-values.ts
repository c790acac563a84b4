import { privateFields } from "../../../actors/middleware/thread-data.ts";
import { holdsBlobs, resolveBlobs } from "../../../events/blobs/blob-content.ts";
import type { BlobStore } from "../../../events/blobs/blob-store.ts";
import type { Message } from "../../../events/message.ts";
import type { State } from "../../../reducers/thread-state.ts";

type Block = { readonly [key: string]: unknown };
type WireMessage = { readonly [key: string]: unknown };

/** How much of a message's bytes travels. */
export interface WireOptions {
  readonly blobs: BlobStore;
  /** Bytes up to which an image stands in the message itself; a larger one is named by its digest. */
  readonly inlineBlobBytes: number;
  /** Path below which the thread's blobs can be fetched. */
  readonly blobPath: string;
}

const dataUrl = /^data:[^,]*;base64,/;

/** True for a block that holds bytes as a data URL or as base64. */
function holdsBytes(block: Block): boolean {
  const { image_url: image, data, source } = block;
  const url = typeof image === "string" ? image : (image as { url?: unknown } | undefined)?.url;
  if (typeof url === "string" && dataUrl.test(url)) return true;
  if (block.type === "blob") return true;
  if (typeof data === "string" && block.type !== "text") return true;
  return typeof (source as { data?: unknown } | undefined)?.data === "string";
}

function isHidden(message: Message): boolean {
  return message.additional_kwargs?.hide_from_ui === true;
}

/** The bytes of hidden messages are for the model alone. */
function withoutBytes(message: Message): Message {
  if (typeof message.content === "string") return message;
  const content = message.content.filter((block) => typeof block === "string" || !holdsBytes(block));
  return content.length === message.content.length ? message : { ...message, content };
}

function largestBlob(message: Message): number {
  if (typeof message.content === "string") return 0;
  return Math.max(
    0,
    ...message.content.map((block) => (typeof block === "string" ? 0 : Number(block.size ?? 0))),
  );
}

/** A moved block with a path in the place of its bytes. */
function named(block: Block, blobPath: string): Block {
  if (block.type !== "blob") return block;
  const { sha256, mimeType, size, block: original, preview, whole } = block;
  if (whole === true || (original === undefined && typeof preview === "string")) {
    return { type: "text", text: `${String(preview ?? "")}…` };
  }
  const { type = "file", metadata } = (original ?? {}) as Block;
  const url = `${blobPath}/${String(sha256)}`;
  if (type === "image_url") return { type, image_url: { url } };
  if (type === "text") return { type, text: `${String(preview ?? "")}…` };
  return { type, mimeType, url, size, sha256, ...(metadata !== undefined && { metadata }) };
}

const wireForms = new WeakMap<Message, Map<number, WireMessage>>();

async function convert(message: Message, options: WireOptions): Promise<WireMessage> {
  const { blobs, inlineBlobBytes, blobPath } = options;
  let shown = isHidden(message) ? withoutBytes(message) : message;
  if (holdsBlobs(shown)) {
    if (largestBlob(shown) <= inlineBlobBytes) shown = await resolveBlobs(shown, blobs);
    else if (typeof shown.content !== "string") {
      const content = shown.content.map((block) =>
        typeof block === "string" ? block : (named(block, blobPath) as { type: string }),
      );
      shown = { ...shown, content };
    }
  }
  return {
    additional_kwargs: {},
    response_metadata: {},
    ...shown,
    ...(shown.type === "ai" && {
      tool_calls: shown.tool_calls ?? [],
      invalid_tool_calls: shown.invalid_tool_calls ?? [],
    }),
  };
}

/** A message as LangGraph's clients read it. Converted once for each message object. */
export async function wireMessage(message: Message, options: WireOptions): Promise<WireMessage> {
  const known = wireForms.get(message)?.get(options.inlineBlobBytes);
  if (known) return known;
  const converted = await convert(message, options);
  const forms = wireForms.get(message) ?? new Map<number, WireMessage>();
  forms.set(options.inlineBlobBytes, converted);
  wireForms.set(message, forms);
  return converted;
}

/** The value of one field for a client. */
async function wireField(field: string, value: unknown, options: WireOptions): Promise<unknown> {
  if (field !== "messages") return value;
  const messages = (value ?? []) as readonly Message[];
  const converted: WireMessage[] = [];
  for (const message of messages) converted.push(await wireMessage(message, options));
  return converted;
}

/**
 * A state for a client: messages in LangGraph's flat form, no host paths, no bytes of hidden messages.
 *
 * @param fields only these; default all that are public
 */
export async function wireValues(
  state: State,
  options: WireOptions,
  fields?: readonly string[],
): Promise<Record<string, unknown>> {
  const values: Record<string, unknown> = {};
  for (const [field, value] of Object.entries(state)) {
    if (field.startsWith("$") || privateFields.includes(field)) continue;
    if (value === undefined || (fields && !fields.includes(field))) continue;
    values[field] = await wireField(field, value, options);
  }
  return values;
}

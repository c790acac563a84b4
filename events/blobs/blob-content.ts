import type { Json } from "../json.ts";
import { type BlobReference, blobReferenceSchema, type Message } from "../message.ts";
import { BlobMissingError, type BlobStore } from "./blob-store.ts";

/** A longer text is kept in the blob store, in UTF-16 units. */
const maxInlineTextLength = 64 * 1024;
/** Base64 that is longer is kept in the blob store, in characters. */
const maxInlineBase64Length = 1024;
/** Characters of a moved text that stay readable in the event. */
const previewLength = 400;

type JsonObject = { readonly [key: string]: Json };

/** A string that was moved: its bytes are in the blob store. */
interface MovedText extends BlobReference {
  readonly type: "blob";
  /** How the bytes become the string again. */
  readonly encoding: "utf8" | "base64";
  /** What stood before the base64 text: `data:image/png;base64,`. */
  readonly prefix?: string;
  readonly preview?: string;
  /** The string was the message's whole content. */
  readonly whole?: true;
  /** The content block that held the string, with null in its place at `at`. */
  readonly block?: JsonObject;
  readonly at?: readonly string[];
}

const dataUrl = /^data:([\w.+-]+\/[\w.+-]+)?(?:;[\w.+=-]+)*;base64,/;
const wholeDataUrl = /^data:[\w.+-]+\/[\w.+-]+(?:;[\w.+=-]+)*;base64,[A-Za-z0-9+/_-]+={0,2}$/;
const bareBase64 = /^[A-Za-z0-9+/_-]+={0,2}$/;
const embeddedDataUrl = new RegExp(`;base64,[A-Za-z0-9+/_=-]{${maxInlineBase64Length}}`);

function isMovedText(value: unknown): value is MovedText {
  return (
    typeof value === "object" &&
    value !== null &&
    (value as { type?: unknown }).type === "blob" &&
    blobReferenceSchema().safeParse(value).success
  );
}

/** True when a string has to leave the event. `text`: it is written for readers, so bare base64 is not looked for. */
function isTooLarge(value: string, text: boolean): boolean {
  // A data URL is nothing but bytes, however few.
  if (!text && wholeDataUrl.test(value)) return true;
  if (value.length <= maxInlineBase64Length) return false;
  if (value.length > maxInlineTextLength || embeddedDataUrl.test(value)) return true;
  return !text && bareBase64.test(value);
}

async function moveText(value: string, mimeType: string | undefined, blobs: BlobStore): Promise<MovedText> {
  const prefix = dataUrl.exec(value)?.[0];
  const encoded = prefix === undefined ? value : value.slice(prefix.length);
  if (prefix !== undefined || bareBase64.test(value)) {
    const bytes = Buffer.from(encoded, "base64");
    // Only what comes back letter by letter is kept as bytes.
    if (bytes.toString("base64") === encoded) {
      const type = dataUrl.exec(value)?.[1] ?? mimeType ?? "application/octet-stream";
      const reference = await blobs.put(bytes, type);
      return { type: "blob", ...reference, encoding: "base64", ...(prefix !== undefined && { prefix }) };
    }
  }
  const reference = await blobs.put(value, "text/plain");
  const preview = embeddedDataUrl.test(value)
    ? {}
    : { preview: value.slice(0, previewLength).toWellFormed() };
  return { type: "blob", ...reference, encoding: "utf8", ...preview };
}

function mimeTypeOf(block: JsonObject): string | undefined {
  for (const key of ["mimeType", "mime_type", "media_type"]) {
    const value = block[key];
    if (typeof value === "string") return value;
  }
  for (const value of Object.values(block)) {
    if (typeof value === "object" && value !== null && !Array.isArray(value)) {
      const found = mimeTypeOf(value as JsonObject);
      if (found !== undefined) return found;
    }
  }
  return undefined;
}

/** Path of the first string in a block that is too large. */
function findLarge(value: Json | undefined, text: boolean): readonly string[] | undefined {
  if (typeof value === "string") return isTooLarge(value, text) ? [] : undefined;
  if (typeof value !== "object" || value === null) return undefined;
  for (const [key, member] of Object.entries(value)) {
    const found = findLarge(member as Json, text);
    if (found) return [key, ...found];
  }
  return undefined;
}

function getAt(value: Json | undefined, path: readonly string[]): Json | undefined {
  return path.reduce<Json | undefined>(
    (current, key) =>
      typeof current === "object" && current !== null && Object.hasOwn(current, key)
        ? (current as JsonObject)[key]
        : undefined,
    value,
  );
}

function setAt(value: Json, path: readonly string[], member: Json): Json {
  const [key, ...rest] = path;
  if (key === undefined) return member;
  if (Array.isArray(value)) {
    const copy = value.slice();
    copy[Number(key)] = setAt(copy[Number(key)] ?? null, rest, member);
    return copy;
  }
  const entries = Object.entries(value as JsonObject);
  return Object.fromEntries(
    entries.map(([name, old]) => [name, name === key ? setAt(old, rest, member) : old]),
  );
}

async function moveFromBlock(block: JsonObject, blobs: BlobStore): Promise<JsonObject> {
  if (isMovedText(block)) return block;
  const at = findLarge(block, block.type === "text");
  if (!at) return block;
  const moved = await moveText(String(getAt(block, at)), mimeTypeOf(block), blobs);
  const rest = await moveFromBlock(setAt(block, at, null) as JsonObject, blobs);
  return { ...moved, block: rest, at } as unknown as JsonObject;
}

/** In values that are opaque to everybody a reference takes the string's place. */
async function moveInside(value: Json, blobs: BlobStore): Promise<Json> {
  let current = value;
  for (let at = findLarge(current, false); at; at = findLarge(current, false)) {
    const moved = await moveText(String(getAt(current, at)), undefined, blobs);
    current = setAt(current, at, moved as unknown as Json);
  }
  return current;
}

/** Parts of a message besides its content that may hold large strings. */
const opaqueKeys = ["artifact", "additional_kwargs", "response_metadata"] as const;

/**
 * Moves what is large in a message into the blob store: texts over 64 KiB, and base64 over 1 KiB. Gives the message
 * itself back when nothing is.
 *
 * @example
 * await moveToBlobs(message, store.blobs); // content: [{ type: "blob", sha256: …, mimeType: "image/png", size: 20480, … }]
 */
export async function moveToBlobs(message: Message, blobs: BlobStore): Promise<Message> {
  const changes: Record<string, unknown> = {};
  const { content } = message;
  if (typeof content === "string") {
    if (isTooLarge(content, true))
      changes.content = [{ ...(await moveText(content, undefined, blobs)), whole: true }];
  } else {
    const moved = await Promise.all(
      content.map(async (block) => {
        if (typeof block !== "string") return moveFromBlock(block as unknown as JsonObject, blobs);
        return isTooLarge(block, true) ? await moveText(block, undefined, blobs) : block;
      }),
    );
    if (moved.some((block, index) => block !== content[index])) changes.content = moved;
  }
  for (const key of opaqueKeys) {
    const value = message[key] as Json | undefined;
    if (value === undefined || findLarge(value, false) === undefined) continue;
    changes[key] = await moveInside(value, blobs);
  }
  return Object.keys(changes).length === 0 ? message : ({ ...message, ...changes } as Message);
}

function holds(value: unknown): boolean {
  if (typeof value !== "object" || value === null) return false;
  return isMovedText(value) || Object.values(value).some(holds);
}

const answers = new WeakMap<Message, boolean>();

/** True when `resolveBlobs` has something to do. Looked at once for each message object. */
export function holdsBlobs(message: Message): boolean {
  let answer = answers.get(message);
  if (answer === undefined) {
    answer = typeof message.content !== "string" && holds(message.content);
    answer ||= opaqueKeys.some((key) => holds(message[key]));
    answers.set(message, answer);
  }
  return answer;
}

async function textOf(moved: MovedText, blobs: BlobStore): Promise<string> {
  const bytes = Buffer.from(await blobs.get(moved.sha256));
  return (moved.prefix ?? "") + bytes.toString(moved.encoding === "base64" ? "base64" : "utf8");
}

async function bringBack(moved: MovedText, blobs: BlobStore): Promise<Json> {
  try {
    const text = await textOf(moved, blobs);
    if (!moved.block || !moved.at) return text;
    return setAt(await bringBackInside(moved.block, blobs), moved.at, text);
  } catch (error) {
    // Erased content must not make the thread useless: the model is told instead.
    if (!(error instanceof BlobMissingError)) throw error;
    const note = `[${moved.mimeType}, ${moved.size} bytes: this content is not in the store any more]`;
    return moved.block ? { type: "text", text: note } : note;
  }
}

async function bringBackInside(value: Json, blobs: BlobStore): Promise<Json> {
  if (typeof value !== "object" || value === null || !holds(value)) return value;
  if (isMovedText(value)) return bringBack(value, blobs);
  if (Array.isArray(value)) return Promise.all(value.map((member) => bringBackInside(member, blobs)));
  const entries = Object.entries(value as JsonObject).map(
    async ([key, member]) => [key, await bringBackInside(member, blobs)] as const,
  );
  return Object.fromEntries(await Promise.all(entries));
}

/**
 * The message as it was before `moveToBlobs`, for a model to read. Content that was erased is replaced by a note.
 *
 * @throws {BlobDamagedError}
 */
export async function resolveBlobs(message: Message, blobs: BlobStore): Promise<Message> {
  if (!holdsBlobs(message)) return message;
  const { content } = message;
  const changes: Record<string, unknown> = {};
  if (typeof content !== "string") {
    const blocks = await Promise.all(content.map((block) => bringBackInside(block as Json, blobs)));
    const [first] = content;
    const wasText = isMovedText(first) && first.whole === true;
    changes.content = wasText ? blocks[0] : blocks;
  }
  for (const key of opaqueKeys) {
    if (holds(message[key])) changes[key] = await bringBackInside(message[key] as Json, blobs);
  }
  return { ...message, ...changes } as Message;
}

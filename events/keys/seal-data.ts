import type { Json, JsonObject } from "../json.ts";

/** Key of the ciphertexts in the data of a sealed event, by path. */
const sealedKey = "$sealed";
/** Key of the blobs that sealed content refers to, so that copies of the log can take them along without any key. */
const blobsKey = "$blobs";
/** Key of the paths whose content is gone, in the data of an event that is read without its keys. */
const erasedKey = "$erased";

/** The data uses a key that sealing needs for itself. */
export class ReservedKeyError extends Error {
  override readonly name = "ReservedKeyError";
  constructor(
    readonly type: string,
    readonly key: string,
  ) {
    super(`The data of ${type} has the key "${key}", which encryption uses for itself. Rename it.`);
  }
}

/** One piece of content that is sealed by itself. */
interface Unit {
  readonly path: string;
  readonly value: Json;
  /** What stands in its place, and stays when the content is gone. */
  readonly blank: Json;
}

function isObject(value: Json | undefined): value is JsonObject {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

function isEntry(value: Json): value is JsonObject {
  return isObject(value) && typeof value.id === "string";
}

/** Members that tell what an entry is and what it belongs to, never what it says. */
const structure = ["id", "type", "kind", "status", "callId", "tool_call_id"];

function blankCalls(calls: Json | undefined): Json | undefined {
  if (!Array.isArray(calls)) return undefined;
  return calls.map((call: Json): Json => {
    if (!isObject(call)) return {};
    const { id = null, name = "", type = "tool_call" } = call;
    return { id, name, type, args: {} };
  });
}

/** The same kind of value without content: what folds and keeps its place in a conversation. */
function blankOf(value: Json): Json {
  if (typeof value === "string") return "";
  if (typeof value === "number") return 0;
  if (typeof value === "boolean") return false;
  if (value === null) return null;
  if (Array.isArray(value)) return [];
  if (!isEntry(value)) return {};
  const blank: Record<string, Json> = {};
  for (const key of structure) {
    const member = value[key];
    if (typeof member === "string") blank[key] = member;
  }
  if ("content" in value) blank.content = "";
  if ("value" in value) blank.value = null;
  const calls = blankCalls(value.tool_calls);
  return calls === undefined ? blank : { ...blank, tool_calls: calls };
}

const digest = /^[0-9a-f]{64}$/;

function* digestsIn(value: Json): Generator<string> {
  if (typeof value !== "object" || value === null) return;
  for (const [key, member] of Object.entries(value)) {
    if (key === "sha256" && typeof member === "string" && digest.test(member)) yield member;
    else yield* digestsIn(member);
  }
}

function memberAt(data: Json, path: string): Json | undefined {
  let value: Json | undefined = data;
  for (const key of path.split(".")) {
    if (Array.isArray(value)) value = (value as readonly Json[])[Number(key)];
    else value = isObject(value) && Object.hasOwn(value, key) ? value[key] : undefined;
  }
  return value;
}

function replaceAt(data: Json, path: readonly string[], replacement: Json): Json {
  const [key, ...rest] = path;
  if (key === undefined) return replacement;
  if (Array.isArray(data)) {
    const items = data as readonly Json[];
    return items.map((item, index) => (index === Number(key) ? replaceAt(item, rest, replacement) : item));
  }
  if (!isObject(data)) return data;
  return Object.fromEntries(
    Object.entries(data).map(([name, value]) => [
      name,
      name === key ? replaceAt(value, rest, replacement) : value,
    ]),
  );
}

function without(data: JsonObject, key: string): JsonObject {
  return Object.fromEntries(Object.entries(data).filter(([name]) => name !== key));
}

/** Pieces of content at the paths of a definition: entries of a list (messages …) each by itself. */
function unitsOf(data: Json, content: readonly string[]): Unit[] {
  return content.flatMap((path): Unit[] => {
    const value = memberAt(data, path);
    if (value === undefined || value === null) return [];
    if (Array.isArray(value) && value.length > 0 && (value as readonly Json[]).every(isEntry)) {
      return (value as readonly Json[]).map((item, index) => ({
        path: `${path}.${index}`,
        value: item,
        blank: blankOf(item),
      }));
    }
    return [{ path, value, blank: blankOf(value) }];
  });
}

/** Paths of the pieces of content in the data of an event, sealed or not. */
export function contentPaths(data: Json, content: readonly string[]): string[] {
  if (isObject(data) && isObject(data[sealedKey])) return Object.keys(data[sealedKey]);
  return unitsOf(data, content).map(({ path }) => path);
}

/** Takes the content at some paths away, as if it had never been readable. */
export function eraseAt(data: Json, paths: readonly string[]): Json {
  if (!isObject(data) || paths.length === 0) return data;
  let result: Json = data;
  for (const path of paths) {
    const value = memberAt(result, path);
    if (value !== undefined) result = replaceAt(result, path.split("."), blankOf(value));
  }
  const before = Array.isArray(data[erasedKey]) ? (data[erasedKey] as readonly Json[]) : [];
  return { ...(result as JsonObject), [erasedKey]: [...new Set([...before, ...paths])] };
}

/** True when an event of a definition holds content that is not sealed. */
export function hasOpenContent(data: Json, content: readonly string[]): boolean {
  if (isObject(data) && sealedKey in data) return false;
  return unitsOf(data, content).length > 0;
}

/**
 * Puts the content at the paths of a definition under lock: blanks stand in its place, ciphertexts beside them.
 *
 * @param seal ciphertext of a piece of content, as text
 * @throws {ReservedKeyError}
 */
export function sealData(
  type: string,
  data: Json,
  content: readonly string[],
  seal: (path: string, value: Json) => string,
): Json {
  for (const key of [sealedKey, blobsKey, erasedKey]) {
    if (isObject(data) && key in data) throw new ReservedKeyError(type, key);
  }
  const units = unitsOf(data, content);
  if (units.length === 0) return data;
  let sealed = data;
  const texts: Record<string, string> = {};
  for (const { path, value, blank } of units) {
    texts[path] = seal(path, value);
    sealed = replaceAt(sealed, path.split("."), blank);
  }
  const blobs = new Set(units.flatMap(({ value }) => [...digestsIn(value)]));
  return {
    ...(sealed as JsonObject),
    [sealedKey]: texts,
    ...(blobs.size > 0 && { [blobsKey]: [...blobs].map((sha256) => ({ sha256 })) }),
  };
}

/** True for data that `sealData` made. */
export function isSealed(data: Json): data is JsonObject {
  return isObject(data) && isObject(data[sealedKey]);
}

/** True for data that `openData` gave without some of its content: the key is destroyed. */
export function lacksContent(data: unknown): boolean {
  return typeof data === "object" && data !== null && Array.isArray((data as JsonObject)[erasedKey]);
}

/**
 * The data as it was before `sealData`. Where there is no key any more the blank stays, and `$erased` names the path.
 *
 * @param open content of a ciphertext; undefined: its key is gone
 */
export function openData(data: JsonObject, open: (path: string, text: string) => Json | undefined): Json {
  const texts = data[sealedKey] as JsonObject;
  let opened: Json = without(without(data, sealedKey), blobsKey);
  const erased: string[] = [];
  for (const [path, text] of Object.entries(texts)) {
    const value = open(path, String(text));
    if (value === undefined) erased.push(path);
    else opened = replaceAt(opened, path.split("."), value);
  }
  return erased.length === 0 ? opened : { ...(opened as JsonObject), [erasedKey]: erased };
}

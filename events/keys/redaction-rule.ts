import type { Json, JsonObject } from "../json.ts";
import { eraseAt } from "./seal-data.ts";

/** What is taken out: the value at a dot path (`*` stands for every entry), or every text that a pattern matches. */
export type RedactionRule =
  | { readonly kind: "path"; readonly path: readonly string[] }
  | { readonly kind: "pattern"; readonly pattern: RegExp };

/** A text is no redaction rule. */
export class RedactionRuleError extends Error {
  override readonly name = "RedactionRuleError";
  constructor(
    readonly rule: string,
    reason: string,
  ) {
    super(
      `"${rule.slice(0, 80)}" is no redaction rule: ${reason}. Write a path such as title or messages.*.content, or a pattern such as /\\b\\d{16}\\b/.`,
    );
  }
}

/** Stands for what a pattern matched. */
const redactedMark = "[redacted]";

/**
 * Reads a rule: `/…/flags` is a pattern, everything else a dot path.
 *
 * @throws {RedactionRuleError}
 * @example
 * parseRedactionRule("messages.*.content");
 * parseRedactionRule("/[\\w.]+@[\\w.]+/");
 */
export function parseRedactionRule(text: string): RedactionRule {
  const written = /^\/(.+)\/([a-z]*)$/s.exec(text);
  if (written) {
    const [, source = "", flags = ""] = written;
    try {
      return { kind: "pattern", pattern: new RegExp(source, [...new Set(`${flags}g`)].join("")) };
    } catch (cause) {
      throw new RedactionRuleError(text, (cause as Error).message);
    }
  }
  const path = text.split(".");
  if (path.some((key) => key === "")) throw new RedactionRuleError(text, "a part of the path is empty");
  return { kind: "path", path };
}

function entriesOf(value: Json): [string, Json][] {
  if (typeof value !== "object" || value === null) return [];
  return Object.entries(value as JsonObject);
}

function pathsAt(value: Json, path: readonly string[], at: readonly string[] = []): string[] {
  const [key, ...rest] = path;
  if (key === undefined) return [at.join(".")];
  return entriesOf(value).flatMap(([name, member]) =>
    key === "*" || key === name ? pathsAt(member, rest, [...at, name]) : [],
  );
}

function textsIn(value: Json, at: readonly string[], matches: (text: string) => boolean): string[] {
  if (typeof value === "string") return matches(value) ? [at.join(".")] : [];
  return entriesOf(value).flatMap(([name, member]) => textsIn(member, [...at, name], matches));
}

/** Members that tell what an event or a message is, not what it says; a pattern leaves them alone. */
const structure: ReadonlySet<string> = new Set(["id", "type", "callId", "tool_call_id", "runId", "sha256"]);

/** Paths of what a rule takes out of the data of an event; none: it does not touch the event. */
export function redactedPaths(data: Json, rule: RedactionRule): string[] {
  if (rule.kind === "path") return pathsAt(data, rule.path);
  const matches = (text: string) => text.search(rule.pattern) >= 0;
  return textsIn(data, [], matches).filter((path) => !structure.has(path.slice(path.lastIndexOf(".") + 1)));
}

function replaceTexts(value: Json, at: string, paths: ReadonlySet<string>, pattern: RegExp): Json {
  if (typeof value === "string") return paths.has(at) ? value.replace(pattern, redactedMark) : value;
  if (typeof value !== "object" || value === null) return value;
  const within = (name: string | number) => (at === "" ? String(name) : `${at}.${name}`);
  if (Array.isArray(value)) {
    return (value as readonly Json[]).map((item, index) => replaceTexts(item, within(index), paths, pattern));
  }
  return Object.fromEntries(
    entriesOf(value).map(([name, member]) => [name, replaceTexts(member, within(name), paths, pattern)]),
  );
}

/** The data as it is shown after a redaction. The same reference when the rule does not touch it. */
export function applyRedaction(data: Json, rule: RedactionRule): Json {
  const paths = redactedPaths(data, rule);
  if (paths.length === 0) return data;
  if (rule.kind === "path") return eraseAt(data, paths);
  return replaceTexts(data, "", new Set(paths), rule.pattern);
}

import { createHash } from "node:crypto";
import { canonicalJson } from "../../events/canonical-json.ts";
import type { AgentTool } from "./define-tool.ts";
import { argumentsSchema } from "./json-schema.ts";

/** What a search tells the model of a tool. */
export interface ToolEntry {
  readonly name: string;
  readonly description: string;
}

/** Tools that a model finds by search instead of having all of them in every request. */
export interface ToolCatalogue {
  readonly tools: readonly AgentTool[];
  /** 16 hex digits that change with any name, description or schema, not with the order. */
  readonly hash: string;
  get(name: string): AgentTool | undefined;
}

/** Name, description and arguments as a model provider gets them. */
export function functionSchema(tool: AgentTool) {
  return { name: tool.name, description: tool.description, parameters: argumentsSchema(tool) };
}

/**
 * A catalogue of deferred tools.
 *
 * @example
 * createToolCatalogue([searchRepositories, createIssue]).hash; // "9f2c…"
 */
export function createToolCatalogue(tools: readonly AgentTool[]): ToolCatalogue {
  const byName = new Map(tools.map((tool) => [tool.name, tool]));
  const schemas = [...byName.values()]
    .map((tool) => ({ name: tool.name, schema: functionSchema(tool) }))
    .sort((a, b) => (a.name < b.name ? -1 : 1));
  const hash = createHash("sha256").update(canonicalJson(schemas)).digest("hex").slice(0, 16);
  return { tools: [...byName.values()], hash, get: (name) => byName.get(name) };
}

/** Most tools that a search gives; `select:` has no limit. */
export const maxSearchResults = 5;

/** Patterns come from a model: what could take exponential time is read as plain text. */
const maxPatternLength = 200;
const maxQuantifiers = 4;
const nestedRepetition = /\([^()]*(?:[+*{|])[^()]*\)\s*[+*{]|\([^()]*\(|\\\d/;
/** Characters of a description that a pattern is tried on. */
const maxSearchedText = 1_000;

function isHarmless(query: string): boolean {
  if (query.length > maxPatternLength || nestedRepetition.test(query)) return false;
  return (query.match(/[+*{]/g) ?? []).length <= maxQuantifiers;
}

function patternOf(query: string): RegExp {
  if (isHarmless(query)) {
    try {
      return new RegExp(query, "gi");
    } catch {
      // No pattern, but a text to look for.
    }
  }
  return new RegExp(query.replace(/[.*+?^${}()|[\]\\/-]/g, "\\$&"), "gi");
}

function countMatches(pattern: RegExp, text: string): number {
  return [...text.slice(0, maxSearchedText).matchAll(pattern)].length;
}

function selectByName<Entry extends ToolEntry>(catalogue: readonly Entry[], list: string): readonly Entry[] {
  const names = new Set(list.split(",").map((name) => name.trim()));
  return catalogue.filter(({ name }) => names.has(name));
}

function requireInName<Entry extends ToolEntry>(catalogue: readonly Entry[], rest: string): readonly Entry[] {
  const [required = "", ...others] = rest.trim().toLowerCase().split(/\s+/);
  if (required === "") return [];
  const ranking = others.length > 0 ? patternOf(others.join(" ")) : undefined;
  return catalogue
    .filter(({ name }) => name.toLowerCase().includes(required))
    .map((entry) => ({
      entry,
      score: ranking ? countMatches(ranking, `${entry.name} ${entry.description}`) : 0,
    }))
    .sort((a, b) => b.score - a.score)
    .slice(0, maxSearchResults)
    .map(({ entry }) => entry);
}

function matchPattern<Entry extends ToolEntry>(catalogue: readonly Entry[], query: string): readonly Entry[] {
  const pattern = patternOf(query);
  const inName = catalogue.filter(({ name }) => countMatches(pattern, name) > 0);
  const inDescription = catalogue.filter(
    (entry) => !inName.includes(entry) && countMatches(pattern, entry.description) > 0,
  );
  return [...inName, ...inDescription].slice(0, maxSearchResults);
}

/**
 * Finds tools. Three forms: `select:a, b` gives exactly these; `+word rest` wants the word in the name and ranks by
 * the rest; anything else is a pattern over names, then descriptions, in any case.
 *
 * @example
 * searchTools(catalogue, "+slack send").map(({ name }) => name); // ["slack_send", "slack_search"]
 */
export function searchTools<Entry extends ToolEntry>(
  catalogue: readonly Entry[],
  query: string,
): readonly Entry[] {
  const text = query.trim();
  if (text === "") return [];
  if (text.startsWith("select:")) return selectByName(catalogue, text.slice("select:".length));
  if (text.startsWith("+")) return requireInName(catalogue, text.slice(1));
  return matchPattern(catalogue, text);
}

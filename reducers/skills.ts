import { SkillsLoaded } from "../events/skills.ts";
import { defineReducer } from "./define-reducer.ts";
import { keepWhenSame, sameJson } from "./same-json.ts";

/** Entries at most; the longest unread go first. */
const maxSkills = 8;
/** Code points, so that no character is cut in half. */
export const maxSkillDescriptionLength = 500;

interface Skill {
  readonly name: string;
  readonly path: string;
  readonly description: string;
  readonly loaded_at: number;
}

type Skills = readonly Skill[];

/** The four known keys in their proper types; undefined without a path. */
function normalize(entry: unknown): Skill | undefined {
  const { name, path, description, loaded_at } = (entry ?? {}) as Record<string, unknown>;
  if (typeof path !== "string" || path === "") return undefined;
  return {
    name: name == null ? "" : String(name),
    path,
    description:
      typeof description === "string"
        ? [...description.trim().replace(/\s+/g, " ")].slice(0, maxSkillDescriptionLength).join("")
        : "",
    loaded_at: Number.isInteger(loaded_at) ? (loaded_at as number) : 0,
  };
}

function load(current: Skills, entries: readonly unknown[]): Skills {
  const byPath = new Map<string, Skill>();
  for (const entry of [...current, ...entries]) {
    const skill = normalize(entry);
    if (!skill) continue;
    byPath.delete(skill.path);
    byPath.set(skill.path, skill);
  }
  return keepWhenSame<Skills>(current, [...byPath.values()].slice(-maxSkills));
}

/** Skill descriptions in the conversation, the newest read last. Bodies are never kept. */
export const skillContext = defineReducer<Skills>({
  field: "skill_context",
  initial: [],
  on: { SkillsLoaded: (current, data) => load(current, data.entries) },
  merge: (current, added) => (Array.isArray(added) ? load(current, added) : current),
  fromUpdate(added, current) {
    if (added == null) return [];
    if (!Array.isArray(added)) return [SkillsLoaded({ entries: added as { path?: string }[] })];
    const entries = added.map(normalize).filter((skill) => skill !== undefined);
    // A list that ends like the current one was only read and handed back.
    if (sameJson(load(current, entries), current)) return [];
    return [SkillsLoaded({ entries: entries.map((skill) => ({ ...skill })) })];
  },
});

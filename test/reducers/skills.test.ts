import { describe, expect, test } from "vitest";
import { canonicalJson } from "../../events/canonical-json.ts";
import { SkillsLoaded } from "../../events/skills.ts";
import { maxSkillDescriptionLength, skillContext } from "../../reducers/skills.ts";
import { composeReducers } from "../../reducers/thread-state.ts";

const reducer = composeReducers([{ source: "test", reducers: [skillContext] }]);
const load = (entry: { [key: string]: unknown }) => {
  return reducer.fold([{ ...SkillsLoaded({ entries: [entry] }), version: 1 }]).skill_context;
};

describe("a loaded skill", () => {
  test("keeps four keys in their types, never its body", () => {
    expect(
      load({ path: "/s/a", name: 7, description: "  two\n lines ", loaded_at: "x", body: "long" }),
    ).toEqual([{ name: "7", path: "/s/a", description: "two lines", loaded_at: 0 }]);
  });

  test("without a path is left out", () => {
    expect(load({ name: "n" })).toEqual([]);
  });

  test("is cut between characters, so that it still has a canonical form", () => {
    const description = `${"x".repeat(maxSkillDescriptionLength - 1)}😀😀`;
    const [skill] = load({ path: "/s/a", description }) as { description: string }[];
    expect([...(skill?.description ?? "")]).toHaveLength(maxSkillDescriptionLength);
    expect(() => canonicalJson(skill)).not.toThrow();
  });

  test("becomes an event without its body", () => {
    const drafts = skillContext.fromUpdate?.([{ path: "/s/a", name: "n", body: "x".repeat(9000) }], []);
    expect(JSON.stringify(drafts).length).toBeLessThan(200);
  });
});

import { describe, expect, test } from "vitest";
import type { DataOf } from "../../events/define-event.ts";
import { TitleSet } from "../../events/title.ts";
import { composeReducers } from "../../reducers/thread-state.ts";
import { title } from "../../reducers/title.ts";

type Titles = readonly DataOf<typeof TitleSet>[];

const reducer = composeReducers([{ source: "test", reducers: [title] }]);
const titleAfter = (titles: Titles) =>
  reducer.fold(titles.map((data, index) => ({ ...TitleSet(data), version: index + 1 }))).title;

describe("a title", () => {
  test.each(["auto", "llm", "interrupted"] as const)(
    "of the user's survives a later one from %s",
    (origin) => {
      expect(
        titleAfter([
          { title: "Mine", origin: "user" },
          { title: "Other", origin },
        ]),
      ).toBe("Mine");
    },
  );

  test("of the user's replaces any title, the user's own included", () => {
    const titles: Titles = [
      { title: "Auto", origin: "auto" },
      { title: "Mine", origin: "user" },
      { title: "Mine again", origin: "user" },
    ];
    expect(titleAfter(titles.slice(0, 2))).toBe("Mine");
    expect(titleAfter(titles)).toBe("Mine again");
  });

  test("that the user took away makes room for an automatic one", () => {
    expect(
      titleAfter([
        { title: "Mine", origin: "user" },
        { title: null, origin: "user" },
      ]),
    ).toBeNull();
    expect(
      titleAfter([
        { title: "Mine", origin: "user" },
        { title: "", origin: "user" },
        { title: "Auto", origin: "auto" },
      ]),
    ).toBe("Auto");
  });

  test("in a plain update is an automatic one", () => {
    expect(title.fromUpdate?.("New", undefined)).toEqual([TitleSet({ title: "New", origin: "auto" })]);
    expect(title.fromUpdate?.("Same", "Same")).toEqual([]);
    expect(title.fromUpdate?.(null, "Same")).toEqual([]);
  });
});

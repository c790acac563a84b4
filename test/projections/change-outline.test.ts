import { expect, test } from "vitest";
import { changedText, outlineChanges } from "../../projections/change-outline.ts";

const limit = 1_000;
const message = (id: string, content: string) => ({ id, type: "human", content });

test("fields that came, went and changed, each with where it stands", () => {
  const { changes } = outlineChanges(
    { title: "Tea", goal: 1, same: [1] },
    { title: "Tea shop", todos: [], same: [1] },
    { limit },
  );
  expect(changes.map(({ kind, key, before, after }) => [kind, key, before?.pointer, after?.pointer])).toEqual(
    [
      ["replaced", "title", "/title", "/title"],
      ["removed", "goal", "/goal", undefined],
      ["added", "todos", undefined, "/todos"],
    ],
  );
  expect(changes[0]?.text).toEqual({ before: "Tea", after: "Tea shop", skippedBefore: 0, skippedAfter: 0 });
});

test("messages are compared by id: one that was put in between moves no other", () => {
  const before = { messages: [message("a", "one"), message("b", "two"), message("c", "three")] };
  const after = { messages: [message("a", "one"), message("n", "new"), message("c", "three!")] };
  const [list] = outlineChanges(before, after, { limit }).changes;
  expect(list?.kind).toBe("inside");
  const inside = (list?.changes ?? []).map(({ kind, item, before: old, after: now }) => [
    kind,
    item?.id,
    old?.pointer,
    now?.pointer,
  ]);
  expect(inside).toHaveLength(3);
  expect(inside).toContainEqual(["removed", "b", "/messages/1", undefined]);
  expect(inside).toContainEqual(["added", "n", undefined, "/messages/1"]);
  expect(inside).toContainEqual(["inside", "c", undefined, undefined]);
  const changed = list?.changes?.find(({ item }) => item?.id === "c")?.changes?.[0];
  expect(changed).toMatchObject({
    kind: "replaced",
    key: "content",
    text: { before: "three", after: "three!" },
  });
});

test("long values are named, and of long texts what differs is given with what surrounds it", () => {
  const long = "word ".repeat(400_000);
  const before = { messages: [message("a", `${long}red${long}`)], bytes: "x".repeat(2_000_000) };
  const after = { messages: [message("a", `${long}green${long}`)], bytes: "y".repeat(2_000_000) };
  const { changes } = outlineChanges(before, after, { limit });
  expect(JSON.stringify(changes).length).toBeLessThan(6_000);
  const content = changes[0]?.changes?.[0]?.changes?.[0];
  expect(content?.after).toMatchObject({ pointer: "/messages/0/content", outline: { size: 4_000_005 } });
  expect(content?.text?.before).toContain("word redword");
  expect(content?.text?.skippedBefore).toBe(2_000_000 - 160);
  expect(changes[1]?.text).toBeUndefined();
  expect(changedText("aXb", "aYYb")).toEqual({
    before: "aXb",
    after: "aYYb",
    skippedBefore: 0,
    skippedAfter: 0,
  });
});

test("no more changes are listed than were asked for, and it says how many are left out", () => {
  const messages = Array.from({ length: 500 }, (_, index) => message(`m${index}`, "x"));
  const { changes } = outlineChanges({ messages: [] }, { messages }, { limit: 101 });
  expect(changes[0]?.changes).toHaveLength(100);
  expect(changes[0]?.leftOut).toBe(400);
});

test("keys that objects know already are keys like others", () => {
  const before = JSON.parse('{"a":{"__proto__":1,"x/y~z":1}}') as { a: unknown };
  const after = JSON.parse('{"a":{"__proto__":2,"x/y~z":2}}') as { a: unknown };
  const [a] = outlineChanges(before, after, { limit }).changes;
  expect(a?.changes?.map((change) => change.after?.pointer)).toEqual(["/a/__proto__", "/a/x~1y~0z"]);
});

import { beforeEach, describe, expect, test } from "vitest";
import type { EventLog } from "../../events/log/event-log.ts";
import { HeadNamed, ThreadCreated, ThreadErased, ThreadForked, ThreadRewound } from "../../events/thread.ts";
import { TitleSet } from "../../events/title.ts";
import { type BranchTree, commonAncestor, readBranches, readHeads } from "../../projections/branches.ts";
import { type Fork, forkIndex, forksFromIndex, forksFromLog } from "../../projections/fork-index.ts";
import { UnknownThreadError } from "../../projections/lineage.ts";
import { createProjectionBench, type ProjectionBench } from "./fold-projection.ts";

let bench: ProjectionBench<Fork>;
let log: EventLog;
const titles = (count: number) =>
  Array.from({ length: count }, () => TitleSet({ title: "t", origin: "user" }));

/**
 * a: 1-6, back to 3 at 7, on to 9, back to 8 at 10, on to 11; b forks a@5, c forks a@9, d forks b@1.
 */
beforeEach(async () => {
  bench = createProjectionBench(forkIndex);
  log = bench.log;
  await bench.record("a", [ThreadCreated({}), ...titles(5)]);
  await bench.record("a", [ThreadRewound({ toVersion: 3, reason: "wrong turn" }), ...titles(2)]);
  await bench.record("b", [ThreadForked({ parentThreadId: "a", parentVersion: 5 }), ...titles(1)]);
  await bench.record("c", [ThreadForked({ parentThreadId: "a", parentVersion: 9 })]);
  await bench.record("a", [ThreadRewound({ toVersion: 8 }), ...titles(1)]);
  await bench.record("d", [ThreadForked({ parentThreadId: "b", parentVersion: 1 })]);
});

function outline(tree: BranchTree): unknown {
  return {
    [tree.threadId]: tree.branches.map((branch) => [
      `${branch.from}-${branch.to}${branch.current ? " current" : ""}`,
      branch.leaves ? `${branch.leaves.threadId}@${branch.leaves.version}` : "start",
      ...branch.forks.map(outline),
    ]),
  };
}

describe("branches", () => {
  test("are the tree of rewinds and forks", async () => {
    const tree = await readBranches(log, "a");
    expect(outline(tree)).toEqual({
      a: [
        ["1-6 current", "start", { b: [["1-2 current", "a@5", { d: [["1-1 current", "b@1"]] }]] }],
        ["7-9 current", "a@3", { c: [["1-1 current", "a@9"]] }],
        ["10-11 current", "a@8"],
      ],
    });
    expect(tree.branches[1]?.reason).toBe("wrong turn");
    expect(tree.parent).toBeUndefined();
  });

  test("that were abandoned are not current", async () => {
    await bench.record("a", [ThreadRewound({ toVersion: 2 })]);
    const { branches } = await readBranches(log, "a");
    expect(branches.map(({ from, current }) => [from, current])).toEqual([
      [1, true],
      [7, false],
      [10, false],
      [12, true],
    ]);
  });

  test("of a fork name its parent and leave the parent's other branches out", async () => {
    const tree = await readBranches(log, "b");
    expect(tree.parent).toEqual({ threadId: "a", version: 5 });
    expect(outline(tree)).toEqual({ b: [["1-2 current", "a@5", { d: [["1-1 current", "b@1"]] }]] });
  });

  test("are the same with forks from the index", async () => {
    await bench.update();
    const forks = forksFromIndex(bench.view);
    expect(await readBranches(log, "a", { forks })).toEqual(await readBranches(log, "a"));
    expect(await forks("a")).toEqual(await forksFromLog(log)("a"));
  });

  test("carry the names that were given to their versions", async () => {
    await bench.record("a", [
      HeadNamed({ name: "draft", version: 5 }),
      HeadNamed({ name: "best", version: 8 }),
    ]);
    await bench.record("a", [
      HeadNamed({ name: "draft", version: 2 }),
      HeadNamed({ name: "gone", version: 1 }),
    ]);
    await bench.record("a", [HeadNamed({ name: "gone", version: null })]);
    const { branches } = await readBranches(log, "a");
    expect(branches.map(({ heads }) => heads)).toEqual([
      [{ name: "draft", version: 2 }],
      [{ name: "best", version: 8 }],
      [],
    ]);
    expect(await readHeads(log, "a")).toEqual([
      { name: "best", version: 8 },
      { name: "draft", version: 2 },
    ]);
    await expect(readHeads(log, "nobody")).rejects.toThrow(UnknownThreadError);
  });
});

test("a fork that is about to be deleted leaves the index", async () => {
  await bench.record("b", [ThreadErased({})]);
  await bench.update();
  expect(await forksFromIndex(bench.view)("a")).toHaveLength(2);
  await bench.record("b", [ThreadErased({ deleted: true })]);
  await bench.update();
  expect((await forksFromIndex(bench.view)("a")).map(({ threadId }) => threadId)).toEqual(["c"]);
});

describe("the common ancestor", () => {
  const at = (text: string) => {
    const [threadId = "", version] = text.split("@");
    return { threadId, version: Number(version) };
  };
  test.each([
    ["a@2", "a@6", "a@2"],
    ["a@6", "a@9", "a@3"],
    ["a@9", "a@11", "a@8"],
    ["a@6", "b@2", "a@5"],
    ["a@9", "b@2", "a@3"],
    ["c@1", "a@11", "a@8"],
    ["d@1", "b@2", "b@1"],
    ["d@1", "c@1", "a@3"],
    ["b@2", "b@2", "b@2"],
  ])("of %s and %s is %s", async (left, right, expected) => {
    expect(await commonAncestor(log, at(left), at(right))).toEqual(at(expected));
    expect(await commonAncestor(log, at(right), at(left))).toEqual(at(expected));
  });

  test("of threads that share nothing is none", async () => {
    await bench.record("other", titles(1));
    expect(await commonAncestor(log, at("a@3"), at("other@1"))).toBeUndefined();
  });
});

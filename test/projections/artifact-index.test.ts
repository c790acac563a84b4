import { beforeEach, expect, test } from "vitest";
import { ArtifactsPresented } from "../../events/artifacts.ts";
import { StateUpdated } from "../../events/state-update.ts";
import { ContentRedacted, ThreadErased, ThreadRewound } from "../../events/thread.ts";
import { type ArtifactIndexRow, artifactIndex, readArtifacts } from "../../projections/artifact-index.ts";
import { createProjectionBench, type ProjectionBench } from "./fold-projection.ts";

let bench: ProjectionBench<ArtifactIndexRow>;
beforeEach(async () => {
  bench = createProjectionBench(artifactIndex);
  await bench.record("a", [ArtifactsPresented({ paths: ["/out/report.md", "/out/报告.md"] })], {
    runId: "r",
  });
  await bench.record("a", [ArtifactsPresented({ paths: ["/out/late.md", "/out/report.md"] })]);
  await bench.record("b", [ArtifactsPresented({ paths: ["/out/other.md"] })]);
});

async function listed(query: Parameters<typeof readArtifacts>[1] = {}): Promise<[string, boolean][]> {
  await bench.update();
  return (await readArtifacts(bench.view, query)).map(({ path, current }) => [path, current]);
}

test("every artifact is found by thread and by a part of its path, the last presented first", async () => {
  expect((await listed()).map(([path]) => path)).toEqual([
    "/out/other.md",
    "/out/late.md",
    "/out/report.md",
    "/out/报告.md",
  ]);
  expect(await listed({ threadId: "a", search: "报告" })).toEqual([["/out/报告.md", true]]);
  const [, report] = await readArtifacts(bench.view, { threadId: "a" });
  expect(report).toMatchObject({
    versions: [1, 2],
    firstAt: "2026-01-01T00:00:00.000Z",
    lastAt: "2026-01-01T00:00:01.000Z",
    runId: null,
  });
});

test("what a rewind abandoned is listed as not current, and comes back with the branch", async () => {
  await bench.record("a", [ThreadRewound({ toVersion: 1 })]);
  expect(await listed({ threadId: "a" })).toEqual([
    ["/out/late.md", false],
    ["/out/report.md", true],
    ["/out/报告.md", true],
  ]);
  await bench.record("a", [ThreadRewound({ toVersion: 2 })]);
  expect(await listed({ threadId: "a", search: "late" })).toEqual([["/out/late.md", true]]);
});

test("a list that is replaced from outside leaves only what it names current", async () => {
  await bench.record("a", [StateUpdated({ field: "artifacts", value: ["/out/new.md"], replace: true })]);
  expect(await listed({ threadId: "a" })).toContainEqual(["/out/new.md", true]);
  expect(await listed({ threadId: "a", search: "report" })).toEqual([["/out/report.md", false]]);
});

test("paths of erased threads and of redacted events are gone", async () => {
  await bench.record("a", [ContentRedacted({ rule: "paths", versions: [2] })]);
  expect((await listed({ threadId: "a" })).map(([path]) => path)).toEqual(["/out/报告.md"]);
  await bench.record("a", [ThreadErased({})]);
  expect((await listed()).map(([path]) => path)).toEqual(["/out/other.md"]);
});

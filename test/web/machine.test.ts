import { expect, test } from "vitest";
import { threadMachineDefinition } from "../../actors/lifecycle.ts";
import { layOutStatechart } from "../../apps/web/build/statechart-layout.ts";
import { takenWays } from "../../apps/web/src/inspector/machine/taken-ways.ts";
import { expectAccessible } from "./accessibility.ts";
import { browserTest, expectNoProblems, openPage, takePicture } from "./browser.ts";
import { expectFitsNarrowPage } from "./narrow-page.ts";
import { serveScriptedThread } from "./scripted-thread.ts";

test("every state and every way of the lifecycle is laid out, inside of the picture", async () => {
  const layout = await layOutStatechart();
  const states = layout.states.filter(({ group }) => !group).map(({ name }) => name);
  expect([...states].sort()).toEqual([...threadMachineDefinition.states].sort());
  for (const { from, to, when } of threadMachineDefinition.transitions) {
    const way = layout.ways.find((one) => one.from === from && one.to === to);
    expect(way?.when).toContain(when);
    expect(layout.lines.find(({ name }) => name === way?.line)?.points.length).toBeGreaterThan(1);
  }
  for (const { points } of layout.lines) {
    for (const [x, y] of points) {
      expect(x).toBeGreaterThanOrEqual(0);
      expect(x).toBeLessThanOrEqual(layout.width);
      expect(y).toBeGreaterThanOrEqual(0);
      expect(y).toBeLessThanOrEqual(layout.height);
    }
  }
});

test("between two recorded states the ways in between are found, through the last hooks where a run completes", async () => {
  const { ways } = await layOutStatechart();
  const stops = (from: string, to: string) => takenWays(ways, from, to).map((way) => way.to);
  expect(stops("tools", "model")).toEqual(["beforeModel", "model"]);
  expect(stops("tools", "interrupted")).toEqual(["settling", "interrupted"]);
  expect(stops("interrupted", "tools")).toEqual(["beforeAgent", "tools"]);
  expect(stops("model", "failed")).toEqual(["settling", "failed"]);
  expect(stops("model", "idle")).toEqual(["afterAgent", "settling", "idle"]);
  expect(stops("afterAgent", "idle")).toEqual(["settling", "idle"]);
  expect(stops("passivated", "idle")).toEqual([]);
});

browserTest(
  "the state at a version is lit and the way there is bold, in the picture and in words",
  async () => {
    const served = await serveScriptedThread();
    const { types, type, version } = await served.json<{
      types: readonly string[];
      type: readonly number[];
      version: readonly number[];
    }>("log/v1/threads/tea/timeline");
    const versionOf = (wanted: string, nth = 0) =>
      version.filter((_, row) => types[type[row] ?? -1] === wanted)[nth] ?? 0;
    const places: readonly (readonly [number, string, string, readonly string[]])[] = [
      [1, "idle", "None: it is where it began.", []],
      [versionOf("RunStarted"), "beforeAgent", "idle → beforeAgent", ["rest→beforeAgent"]],
      [
        versionOf("ModelCallStarted"),
        "model",
        "beforeAgent → beforeModel → model",
        ["beforeAgent→beforeModel", "beforeModel→model"],
      ],
      [versionOf("ModelResponded"), "afterModel", "model → afterModel", ["model→afterModel"]],
      // The second of two parallel calls moves nothing: the first did.
      [versionOf("ToolCallStarted", 1), "tools", "afterModel → tools", ["afterModel→tools"]],
      [
        versionOf("RunCompleted"),
        "idle",
        "afterModel → afterAgent → settling → idle",
        ["afterAgent→settling", "afterModel→afterAgent", "settling→idle"],
      ],
    ];
    const page = await openPage(served.at({ thread: "tea", tab: "machine", at: 1 }));
    const tab = page.locator(".machine-tab");
    for (const [at, state, words, lines] of places) {
      const box = page.getByRole("spinbutton").or(page.locator(".slider-bar input")).first();
      await box.fill(String(at));
      await box.press("Enter");
      await expect.poll(() => tab.getAttribute("data-version")).toBe(String(at));
      expect(await tab.getAttribute("data-state")).toBe(state);
      const { current } = await served.json<{ current: string }>(`log/v1/threads/tea/machine?at=${at}`);
      expect(current).toBe(state);
      expect(await tab.locator(".statechart .current").getAttribute("data-state")).toBe(state);
      expect(await tab.locator(".machine-facts").textContent()).toContain(words);
      const bold = await tab
        .locator(".statechart .way.taken")
        .evaluateAll((all) => all.map((line) => line.getAttribute("data-line")));
      expect([...bold].sort()).toEqual(lines);
    }
    await takePicture(page, "machine-light");
    await expectAccessible(page);
    await page.emulateMedia({ colorScheme: "dark" });
    await page.goto(served.at({ thread: "tea", tab: "machine", at: versionOf("ToolCallStarted") }));
    await tab.locator(".statechart .way.taken").first().waitFor();
    await takePicture(page, "machine-dark");
    await expectAccessible(page);
    expectNoProblems(page);
  },
  120_000,
);

browserTest(
  "a thread that went back into a run stands at rest, and no way of the chart is said to lead there",
  async () => {
    const served = await serveScriptedThread();
    const thread = served.agent.thread("tea");
    const { version } = await thread.rewind({ to: 7 });
    const page = await openPage(served.at({ thread: "tea", tab: "machine" }));
    const tab = page.locator(".machine-tab");
    await expect.poll(() => tab.getAttribute("data-version")).toBe(String(version));
    expect(await tab.getAttribute("data-state")).toBe("idle");
    expect(await tab.locator(".machine-facts").textContent()).toContain(`tools → idle by Rewound ${version}`);
    expect(await tab.locator(".statechart .way.taken").count()).toBe(0);
    expectNoProblems(page);
  },
  120_000,
);

browserTest(
  "the statechart in Chinese, on a narrow page",
  async () => {
    const served = await serveScriptedThread();
    const page = await openPage(served.at({ thread: "tea" }), { locale: "zh-CN" });
    await page.locator(".state-tab").waitFor();
    await page.keyboard.press("m");
    await page.getByRole("heading", { name: "第 18 版的状态机" }).waitFor();
    expect(await page.locator(".machine-facts .state-word").textContent()).toBe("空闲");
    // No condition is left in English.
    const texts = await page.locator(".machine-ways dd").allTextContents();
    expect(texts.join("")).not.toMatch(/\b(?:it|run|the)\b/);
    await expectFitsNarrowPage(page, "machine");
    expectNoProblems(page);
  },
  120_000,
);

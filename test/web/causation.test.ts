import { expect } from "vitest";
import type { TraceNode } from "../../projections/trace.ts";
import { expectAccessible } from "./accessibility.ts";
import { browserTest, expectNoProblems, openPage, takePicture } from "./browser.ts";
import { expectFitsNarrowPage } from "./narrow-page.ts";
import { serveScriptedThread } from "./scripted-thread.ts";
import { importTeaShop, servePage } from "./served-page.ts";

browserTest(
  "a run as a tree and a waterfall: model calls, the tools they asked for, times, tokens and costs",
  async () => {
    const served = await serveScriptedThread();
    const { nodes } = await served.json<{ nodes: readonly TraceNode[] }>("log/v1/threads/tea/causation");
    const [first, second] = nodes.filter(({ kind }) => kind === "run");
    const page = await openPage(
      served.at({ thread: "tea", tab: "causation", at: (second?.version ?? 0) - 1 }),
    );
    const tab = page.locator(".causation-tab");
    await expect.poll(() => tab.getAttribute("data-run")).toBe(first?.id);
    const rows = tab.locator(".trace-row");
    const shape = await rows.evaluateAll((all) =>
      all.map((row) => [
        /kind-(\w+)/.exec(row.className)?.[1],
        row.getAttribute("data-level"),
        row.querySelector(".trace-link")?.textContent,
      ]),
    );
    expect(shape).toEqual([
      ["run", "1", `Run ${first?.id.slice(0, 8)}`],
      ["model", "2", "scripted"],
      ["tool", "3", "search"],
      ["tool", "3", "search"],
      ["model", "2", "scripted"],
    ]);
    // 1,200 + 1,900 tokens in and 80 + 40 out, at 2 and 8 EUR a million.
    expect(await rows.first().locator(".trace-spent").textContent()).toBe("3,220 tokens · 0.00716 EUR");
    expect(await rows.nth(3).locator(".trace-status").textContent()).toBe("failed");
    // The tools begin after the model call that asked for them, and the second model call after them.
    const starts = await rows
      .locator(".trace-bar")
      .evaluateAll((bars) => bars.map((bar) => bar.getBoundingClientRect().left));
    expect([...starts].sort((a, b) => a - b)).toEqual(starts);
    expect(starts[4] ?? 0).toBeGreaterThan(starts[2] ?? 0);
    const widths = await rows
      .locator(".trace-bar")
      .evaluateAll((bars) => bars.map((bar) => bar.getBoundingClientRect().width));
    expect(Math.max(...widths)).toBe(widths[0]);
    await takePicture(page, "causation-light");
    await expectAccessible(page);
    await page.emulateMedia({ colorScheme: "dark" });
    await page.getByRole("checkbox", { name: "Events" }).check();
    await expect.poll(() => rows.count()).toBeGreaterThan(5);
    await takePicture(page, "causation-events-dark");
    await expectAccessible(page);
    // A click goes to where it began.
    await rows.nth(3).locator(".trace-link").click();
    await expect.poll(() => new URL(page.url()).searchParams.get("at")).not.toBe(null);
    await page.getByRole("button", { name: "Later run" }).click();
    await expect.poll(() => tab.getAttribute("data-run")).toBe(second?.id);
    await page.goto(served.at({ thread: "tea", tab: "causation", at: 1 }));
    await page.getByRole("heading", { name: "No run yet" }).waitFor();
    expectNoProblems(page);
  },
  120_000,
);

browserTest(
  "the run in Chinese, folded from the keyboard, on a narrow page",
  async () => {
    const served = await serveScriptedThread();
    const page = await openPage(served.at({ thread: "tea", at: 10 }), { locale: "zh-CN" });
    await page.locator(".state-tab").waitFor();
    await page.keyboard.press("w");
    await page.getByRole("heading", { name: "前因后果" }).waitFor();
    const rows = page.locator(".trace-row");
    await expect.poll(() => rows.count()).toBe(5);
    await page.locator(".trace-row.kind-model button.trace-fold").first().focus();
    await page.keyboard.press("Enter");
    await expect.poll(() => rows.count()).toBe(3);
    await page.keyboard.press("Enter");
    await expectAccessible(page);
    await expectFitsNarrowPage(page, "causation");
    expectNoProblems(page);
  },
  120_000,
);

browserTest(
  "of an imported thread the tools stand in the tree, times are in the reader's words, and a request that is not recorded is not called none",
  async () => {
    const served = await servePage();
    const thread = await importTeaShop(served);
    const { nodes } = await served.json<{ nodes: readonly TraceNode[] }>(
      `log/v1/threads/${thread}/causation`,
    );
    const count = ({ kind, children }: TraceNode): number =>
      children.reduce((sum, child) => sum + count(child), kind === "tool" ? 1 : 0);
    const run = nodes.findLast(({ kind }) => kind === "run");
    const tools = run === undefined ? 0 : count(run);
    expect(tools).toBeGreaterThan(0);
    const page = await openPage(served.at({ thread, tab: "causation" }), {
      locale: "zh-CN",
      viewport: { width: 1280, height: 800 },
    });
    const tab = page.locator(".causation-tab");
    await expect.poll(() => tab.locator(".trace-row.kind-tool").count()).toBe(tools);
    const times = tab.locator(".trace-duration");
    expect(await times.first().textContent()).toMatch(/秒|分|小时/);
    const cut = await times.evaluateAll((all) =>
      all.filter((one) => one.scrollWidth > one.clientWidth).map((one) => one.textContent),
    );
    expect(cut).toEqual([]);
    await takePicture(page, "causation-imported-zh");
    await expectAccessible(page);
    await page.goto(served.at({ thread, tab: "seen" }));
    await page.getByRole("heading", { name: "未记录请求内容" }).waitFor();
    expectNoProblems(page, /404/);
  },
  120_000,
);

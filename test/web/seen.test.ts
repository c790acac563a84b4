import { expect } from "vitest";
import { expectAccessible } from "./accessibility.ts";
import { browserTest, expectNoProblems, openPage, takePicture } from "./browser.ts";
import { expectFitsNarrowPage } from "./narrow-page.ts";
import { serveScriptedThread } from "./scripted-thread.ts";

interface Timeline {
  readonly types: readonly string[];
  readonly type: readonly number[];
  readonly version: readonly number[];
}

browserTest(
  "the exact request of a model call: who brought, changed and hid each block, and that the hash fits",
  async () => {
    const served = await serveScriptedThread();
    const { types, type, version } = await served.json<Timeline>("log/v1/threads/tea/timeline");
    const calls = version.filter((_, row) => types[type[row] ?? -1] === "ModelCallStarted");
    expect(calls).toHaveLength(3);
    const [first = 0, second = 0, third = 0] = calls;

    // The last call at or before the version that is shown.
    const page = await openPage(served.at({ thread: "tea", tab: "seen", at: second + 1 }));
    const tab = page.locator(".seen-tab");
    await expect.poll(() => tab.getAttribute("data-call")).toBe(String(second));
    expect(await tab.locator(".hash-check").textContent()).toBe("Hash matches");
    const texts = (selector: string) => tab.locator(selector).allTextContents();
    expect(await texts(".block-system .seen-block-body")).toEqual([
      expect.stringContaining("You know everything about tea."),
    ]);
    expect(await tab.locator(".block-tool[data-edit=replaced]").first().textContent()).toContain(
      "changed by middleware:shorter",
    );
    const inserted = tab.locator("[data-edit=inserted]");
    expect(await inserted.textContent()).toContain("inserted by middleware:reminder");
    expect(await inserted.textContent()).toContain("only in this request");
    expect(await tab.locator(".seen-hidden").textContent()).toContain("hidden by middleware:privacy");
    expect(await tab.locator(".seen-hidden").textContent()).toContain("private");
    expect(await texts(".block-tool-schema")).toEqual(["search"]);
    const question = tab.locator(".block-human").first();
    expect(await question.textContent()).toContain("by user");
    await takePicture(page, "seen-light");
    await expectAccessible(page);
    await page.emulateMedia({ colorScheme: "dark" });
    await takePicture(page, "seen-dark");
    await expectAccessible(page);

    await page.getByRole("combobox", { name: "Model call" }).selectOption("0");
    await expect.poll(() => tab.getAttribute("data-call")).toBe(String(first));
    expect(page.url()).toContain(`at=${first}`);
    await page.getByRole("button", { name: "Later call" }).click();
    await page.getByRole("button", { name: "Later call" }).click();
    await expect.poll(() => tab.getAttribute("data-call")).toBe(String(third));
    // What a model wrote is text.
    await expect.poll(() => tab.textContent()).toContain("<script>alert(1)</script>");
    // A block leads to the event that brought it.
    await tab.locator(".block-human .seen-origin a").first().click();
    await page.locator(".event-tab").waitFor();
    await page.goto(served.at({ thread: "tea", tab: "seen", at: 1 }));
    await page.getByRole("heading", { name: "No model call yet" }).waitFor();
    expectNoProblems(page, /404/);
  },
  120_000,
);

browserTest(
  "the request in Chinese, folded and opened from the keyboard, on a narrow page",
  async () => {
    const served = await serveScriptedThread();
    const page = await openPage(served.at({ thread: "tea" }), { locale: "zh-CN" });
    await page.locator(".state-tab").waitFor();
    await page.keyboard.press("i");
    await page.getByRole("heading", { name: "模型请求" }).waitFor();
    expect(await page.locator(".hash-check").textContent()).toBe("哈希一致");
    const tool = page.locator(".block-tool-schema .seen-toggle");
    await tool.focus();
    await page.keyboard.press("Enter");
    await expect.poll(() => tool.getAttribute("aria-expanded")).toBe("true");
    await page.locator(".block-tool-schema .json-tree").waitFor();
    await expectAccessible(page);
    await expectFitsNarrowPage(page, "seen");
    expectNoProblems(page);
  },
  120_000,
);

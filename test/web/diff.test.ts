import type { Locator, Page } from "playwright-core";
import { expect } from "vitest";
import { expectAccessible } from "./accessibility.ts";
import { browserTest, expectNoProblems, openPage, takePicture } from "./browser.ts";
import { expectFitsNarrowPage } from "./narrow-page.ts";
import { type ServedPage, servePage } from "./served-page.ts";

const message = (id: string, content: string, type = "human") => ({ id, type, content });
const river = "We open a small tea shop near the river in May, with green tea and a few cakes.";
const town = "We open a large tea shop near the river in June, with black tea and a few cakes.";

/** A thread whose messages were changed, and a fork of it with a title that would like to be more than text. */
async function teaThread({ agent }: ServedPage) {
  const thread = agent.thread("tea");
  const first = await thread.update({
    title: "Opening a tea shop",
    messages: [
      message("m0", "Hello"),
      message("m1", river),
      message("m2", "茶馆今天天气很好，我们在河边卖绿茶。"),
      message("m3", "What does it cost?"),
    ],
  });
  const second = await thread.update({
    messages: [
      message("m0", "Hello"),
      message("m1", town),
      message("m2", "茶馆今天天气不好，我们在城里卖红茶。"),
      message("m4", "Which permits do we need?", "ai"),
    ],
  });
  const fork = await thread.fork({ at: first.version, threadId: "tea-fork" });
  await fork.update({ title: "<img src=x onerror=alert(1)>\u202eshop" });
  return { thread, first: first.version, head: second.version };
}

const tabOf = (page: Page) => page.locator(".diff-tab");
/** The change of a message, by its id. */
const itemOf = (page: Page, id: string): Locator =>
  page.locator(".change", { has: page.locator(`:scope > .change-head .change-id`, { hasText: id }) }).last();

browserTest(
  "a version is compared with the one before, or with one that is pinned; messages by id, texts word by word",
  async () => {
    const served = await servePage();
    const { first, head } = await teaThread(served);
    const page = await openPage(served.at({ thread: "tea", tab: "diff" }));
    const tab = tabOf(page);
    await expect.poll(() => tab.getAttribute("data-version")).toBe(String(head));
    await expect.poll(() => tab.locator(".diff-places").textContent()).toBe(`${head - 1} → ${head}`);
    await page.getByRole("textbox", { name: "With", exact: true }).fill(String(first));
    await page.getByRole("button", { name: "Compare", exact: true }).click();
    await expect
      .poll(() => itemOf(page, "m1").locator(".text-diff del").allInnerTexts())
      .toEqual(["small", "May", "green"]);
    expect(page.url()).toContain(`pin=${first}`);
    expect(await itemOf(page, "m1").locator(".text-diff ins").allInnerTexts()).toEqual([
      "large",
      "June",
      "black",
    ]);
    expect(await itemOf(page, "m2").locator(".text-diff del").allInnerTexts()).toContain("绿茶");
    expect(await itemOf(page, "m4").getAttribute("data-kind")).toBe("added");
    expect(await itemOf(page, "m3").getAttribute("data-kind")).toBe("removed");
    expect(await itemOf(page, "m0").count()).toBe(0);
    // Who a field has its value from, as a link to that event.
    const since = tab.locator(".change-since");
    await since.waitFor();
    expect(await since.textContent()).toBe(`since ${head} client`);
    await takePicture(page, "diff-light");
    await expectAccessible(page);
    await page.emulateMedia({ colorScheme: "dark" });
    await takePicture(page, "diff-dark");
    await expectAccessible(page);
    // A pinned version stays while the shown one moves.
    await page.keyboard.press("Escape");
    await page.goto(served.at({ thread: "tea", tab: "diff", at: first, pin: head }));
    await expect.poll(() => tab.locator(".diff-places").textContent()).toBe(`${head} → ${first}`);
    await expect.poll(() => itemOf(page, "m4").getAttribute("data-kind")).toBe("removed");
    await page.getByRole("button", { name: "the version before" }).click();
    await expect.poll(() => tab.locator(".diff-places").textContent()).toBe(`${first - 1} → ${first}`);
    expectNoProblems(page);
  },
  120_000,
);

browserTest(
  "another thread, JSON Patch, and hostile content that stays text",
  async () => {
    const served = await servePage();
    const { thread } = await teaThread(served);
    const page = await openPage(served.at({ thread: "tea", tab: "diff", pin: "tea-fork@head" }));
    const title = page.locator(".change", { has: page.locator("code.change-key", { hasText: /^title$/ }) });
    await title.waitFor();
    expect(await title.locator(".text-diff del").allInnerTexts()).not.toEqual([]);
    expect(await title.locator("img").count()).toBe(0);
    expect(await title.locator(".hidden-character").allInnerTexts()).toContain("U+202E");
    await takePicture(page, "diff-other-thread-light");
    await page.getByRole("button", { name: "JSON Patch" }).click();
    await page.locator(".operation").first().waitFor();
    const { operations } = await served.json<{ operations: readonly { op: string; path: string }[] }>(
      "log/v1/threads/tea/patch?at=head&with=tea-fork@head",
    );
    expect(await page.locator(".operation-path").allInnerTexts()).toEqual(operations.map(({ path }) => path));
    await takePicture(page, "diff-patch-light");
    await expectAccessible(page);
    await page.emulateMedia({ colorScheme: "dark" });
    await takePicture(page, "diff-patch-dark");
    await expectAccessible(page);
    // What is long is named and read on a click.
    const { version } = await thread.update({ title: "long ".repeat(100_000) });
    await page.goto(served.at({ thread: "tea", tab: "diff", at: version }));
    await page.locator(".change").first().waitFor();
    const shown = await page.locator(".change").first().textContent();
    expect(shown?.length).toBeLessThan(3_000);
    expectNoProblems(page);
  },
  120_000,
);

browserTest(
  "in Chinese, on a narrow page, from the keyboard",
  async () => {
    const served = await servePage();
    const { first } = await teaThread(served);
    const page = await openPage(served.at({ thread: "tea" }), { locale: "zh-CN" });
    await page.locator(".state-tab").waitFor();
    await page.keyboard.press("d");
    await page.getByRole("heading", { name: /^变更/ }).waitFor();
    await page.getByRole("textbox", { name: "对比", exact: true }).focus();
    await page.keyboard.type(String(first));
    await page.keyboard.press("Enter");
    await itemOf(page, "m4").waitFor();
    expect(await itemOf(page, "m4").locator(".change-mark").textContent()).toBe("新增");
    await takePicture(page, "diff-zh");
    await expectAccessible(page);
    await expectFitsNarrowPage(page, "diff");
    expectNoProblems(page);
  },
  120_000,
);

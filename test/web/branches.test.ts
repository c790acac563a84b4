import { expect } from "vitest";
import { hashToken } from "../../apps/server/access.ts";
import { expectAccessible } from "./accessibility.ts";
import { browserTest, expectNoProblems, openPage, takePicture } from "./browser.ts";
import { expectFitsNarrowPage } from "./narrow-page.ts";
import { type ServedPage, servePage } from "./served-page.ts";

/** A thread that went back once, with a fork of what it was before and a fork of that fork. */
async function branchedThread({ agent }: ServedPage) {
  const thread = agent.thread("tea");
  await thread.update({ title: "Tea", messages: [{ id: "m1", type: "human", content: "Green tea" }] });
  const { version: left } = await thread.update({ title: "Tea shop" });
  const { version: abandoned } = await thread.update({ title: "Coffee" });
  await thread.rewind({ to: left, reason: "not coffee" });
  const { version: head } = await thread.update({ title: "Tea house" });
  const fork = await thread.fork({ at: left, threadId: "tea-fork" });
  const { version: forkHead } = await fork.update({
    title: "Tea ship",
    messages: [
      { id: "m1", type: "human", content: "Green tea" },
      { id: "m2", type: "human", content: "And cakes" },
    ],
  });
  await fork.fork({ at: forkHead, threadId: "tea-fork-fork" });
  return { left, abandoned, head, forkHead };
}

browserTest(
  "the tree of rewinds and forks, and two branches side by side with what they have in common",
  async () => {
    const served = await servePage();
    const { left, abandoned, head, forkHead } = await branchedThread(served);
    const page = await openPage(served.at({ thread: "tea", tab: "branches" }));
    const tab = page.locator(".branches-tab");
    await expect.poll(() => tab.getAttribute("data-head")).toBe(String(head));
    const rows = await tab.locator(".branch-row").allTextContents();
    expect(rows.map((row) => row.replace("Compare", ""))).toEqual([
      `Versions 1–${abandoned}current up to ${left}`,
      expect.stringContaining(`Versions 1–${forkHead}`),
      expect.stringContaining("Version 1"),
      `Versions ${abandoned + 1}–${head}currentback to ${left}: not coffee`,
    ]);
    expect(
      await tab
        .locator(".branch-thread")
        .evaluateAll((all) => all.map((one) => (one as HTMLElement).dataset.thread)),
    ).toEqual(["tea", "tea-fork", "tea-fork-fork"]);

    await page.getByRole("button", { name: `Compare with tea-fork@${forkHead}`, exact: true }).click();
    const side = page.locator(".side-by-side");
    await side.locator(".side").nth(1).waitFor();
    expect(await side.locator(".side-ancestor").textContent()).toBe(`Common ancestor: Version ${left}`);
    expect(new URL(page.url()).searchParams.get("with")).toBe(`tea-fork@${forkHead}`);
    const right = side.locator(`[data-side="tea-fork@${forkHead}"]`);
    await right.locator(".side-events li").first().waitFor();
    expect(await right.locator(".side-events a").allTextContents()).toEqual([
      "Forked",
      "State updated",
      "Messages added",
    ]);
    expect(await side.locator(`[data-side="tea@${head}"] .side-events a`).allTextContents()).toEqual([
      "Rewound",
      "State updated",
    ]);
    const title = side.locator(".change", { has: page.locator("code.change-key", { hasText: /^title$/ }) });
    expect(await title.locator("del").allTextContents()).toEqual(["ship"]);
    expect(await title.locator("ins").allTextContents()).toEqual(["house"]);
    await takePicture(page, "branches-light");
    await expectAccessible(page);
    await page.emulateMedia({ colorScheme: "dark" });
    await takePicture(page, "branches-dark");
    await expectAccessible(page);
    // From the fork of a fork the whole tree is shown.
    await page.goto(served.at({ thread: "tea-fork-fork", tab: "branches" }));
    await expect.poll(() => tab.locator(".branch-thread").count()).toBe(3);
    expect(await tab.locator(".branch-thread-name strong").textContent()).toBe("this thread");
    expectNoProblems(page);
  },
  120_000,
);

browserTest(
  "fork from here, by key from any tab, with a patch of the state; what is wrong with the patch is said",
  async () => {
    const served = await servePage();
    const { left } = await branchedThread(served);
    const page = await openPage(served.at({ thread: "tea", tab: "event", at: left }));
    await page.locator(".event-tab").waitFor();
    await page.keyboard.press("f");
    const dialog = page.getByRole("dialog", { name: `Fork from version ${left}` });
    const patch = dialog.getByRole("textbox");
    await patch.fill("{ not JSON");
    await dialog.getByRole("button", { name: "Fork", exact: true }).click();
    expect(await dialog.getByRole("alert").textContent()).toContain("This is not JSON");
    await takePicture(page, "fork-light");
    await expectAccessible(page);
    await page.emulateMedia({ colorScheme: "dark" });
    await takePicture(page, "fork-dark");
    await expectAccessible(page);
    await patch.fill('{ "title": "From here" }');
    await dialog.getByRole("button", { name: "Fork", exact: true }).click();
    await page.locator(".state-tab").waitFor();
    const fork = new URL(page.url()).searchParams.get("thread") ?? "";
    expect(fork).not.toBe("tea");
    const { state } = await served.json<{ state: { title: string; messages: unknown[] } }>(
      `log/v1/threads/${fork}/state`,
    );
    expect([state.title, state.messages.length]).toEqual(["From here", 1]);
    const { parent } = await served.json<{ parent: unknown }>(`log/v1/threads/${fork}/branches`);
    expect(parent).toEqual({ threadId: "tea", version: left });
    // A patch that the state does not take: the fork is there, and one is told.
    await page.keyboard.press("f");
    await page.getByRole("dialog").getByRole("textbox").fill('{ "no such field": 1 }');
    await page.getByRole("dialog").getByRole("button", { name: "Fork", exact: true }).click();
    await page.getByRole("button", { name: "Open the fork" }).waitFor();
    expect(await page.getByRole("dialog").getByRole("alert").textContent()).toContain("was not changed");
    await page.getByRole("button", { name: "Open the fork" }).click();
    await expect.poll(() => new URL(page.url()).searchParams.get("thread")).not.toBe(fork);
    expectNoProblems(page, /status of 4/);
  },
  120_000,
);

browserTest(
  "who may only read cannot fork; in Chinese, on a narrow page",
  async () => {
    const served = await servePage({
      server: { tokens: [{ name: "reader", sha256: hashToken("reader"), scope: "read" }] },
    });
    await branchedThread(served);
    const page = await openPage(served.at({ thread: "tea", tab: "branches", with: "tea-fork@head" }), {
      locale: "zh-CN",
    });
    await page.getByRole("dialog").getByRole("textbox").fill("reader");
    await page.getByRole("dialog").getByRole("button", { name: "继续" }).click();
    await page.getByRole("heading", { name: "分支" }).waitFor();
    expect(await page.getByRole("button", { name: /从第 \d+ 版分叉/ }).isDisabled()).toBe(true);
    await page.keyboard.press("f");
    expect(await page.getByRole("dialog").count()).toBe(0);
    await page.getByRole("heading", { name: "并排比较" }).waitFor();
    await page.locator(".side-events li").first().waitFor();
    await expectAccessible(page);
    await expectFitsNarrowPage(page, "branches");
    expectNoProblems(page, /status of 401/);
  },
  120_000,
);

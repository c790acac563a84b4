import { expect } from "vitest";
import { expectAccessible } from "./accessibility.ts";
import { browserTest, expectNoProblems, openPage, takePicture } from "./browser.ts";
import { servePage } from "./served-page.ts";
import { readShownState, showVersion } from "./shown-state.ts";

const requests = [
  "write 'two words' to note.txt then count the words in note.txt",
  "plan: buy milk, call Ada, write the report",
  "list the files",
  "what is (3 + 4) * 12?",
  "read note.txt then present note.txt",
];

/** Numbers that look random and are the same in every run. */
function* numbers(seed: number): Generator<number> {
  for (let state = seed; ; ) {
    state = (state * 1_103_515_245 + 12_345) % 2_147_483_648;
    yield state;
  }
}

browserTest(
  "the slider at a version shows exactly the state at that version: 100 random ones",
  async () => {
    const served = await servePage();
    const thread = served.agent.thread("travel");
    for (const request of [...requests, ...requests]) await thread.run(request).result;
    await thread.rewind({ to: 20 });
    const { version: head } = await thread.run(requests[1] ?? "").result;
    expect(head).toBeGreaterThan(100);
    const page = await openPage(served.at({ thread: "travel", tab: "state" }));
    await page.locator(".state-tab").waitFor();
    const random = numbers(20_261_130);
    for (let round = 0; round < 100; round++) {
      const version = random.next().value % (head + 1);
      await showVersion(page, version);
      const { state } = await served.json<{ state: unknown }>(`log/v1/threads/travel/state?at=${version}`);
      expect([version, await readShownState(page)]).toEqual([version, state]);
      expect(await page.getByRole("slider").getAttribute("aria-valuenow")).toBe(String(version));
    }
    expectNoProblems(page);
  },
  240_000,
);

browserTest(
  "slider, keys and play move the whole page; the address holds what is shown and a reload brings it back",
  async () => {
    const served = await servePage();
    const thread = served.agent.thread("travel");
    for (const request of requests) await thread.run(request).result;
    const head = (await thread.info()).version;
    const page = await openPage(served.at({ thread: "travel" }));
    const slider = page.getByRole("slider");
    await slider.waitFor();
    expect(await slider.getAttribute("aria-valuetext")).toBe(`version ${head} of ${head}, Run completed`);
    const shown = () => page.evaluate(() => new URLSearchParams(window.location.search).get("at"));
    const at = async (version: number | null) => {
      await expect.poll(shown).toBe(version === null ? null : String(version));
      const number = String(version ?? head);
      await expect.poll(() => slider.getAttribute("aria-valuenow")).toBe(number);
      await expect.poll(() => page.locator(".state-tab").getAttribute("data-version")).toBe(number);
      const selected = page.locator(".timeline-row[aria-selected=true]");
      if (version !== 0) await expect.poll(() => selected.getAttribute("data-version")).toBe(number);
    };
    await page.keyboard.press("ArrowLeft");
    await at(head - 1);
    await page.keyboard.press("k");
    await at(head - 2);
    await page.keyboard.press("j");
    await at(head - 1);
    await page.keyboard.press("ArrowRight");
    await at(null);
    const { events } = await served.json<{ events: { version: number }[] }>(
      "log/v1/threads/travel/events?type=RunStarted",
    );
    await page.keyboard.press("[");
    await at(events.at(-1)?.version ?? 0);
    await page.keyboard.press("[");
    await at(events.at(-2)?.version ?? 0);
    await page.keyboard.press("]");
    await at(events.at(-1)?.version ?? 0);
    await page.keyboard.press("Home");
    await at(0);
    await page.getByRole("button", { name: "Play" }).click();
    await expect.poll(async () => Number(await shown()), { timeout: 10_000 }).toBeGreaterThanOrEqual(2);
    await page.getByRole("button", { name: "Pause" }).click();
    await slider.focus();
    await page.keyboard.press("End");
    await at(null);

    await page.locator(".timeline-scroller").evaluate((element) => element.scrollTo(0, 0));
    await page.locator(".timeline-row[data-version='7']").click();
    await at(7);
    await page.getByRole("tab", { name: "Event" }).click();
    await page.getByRole("searchbox", { name: "Find in events" }).fill("note.txt");
    await expect.poll(() => page.locator(".filter-result").textContent()).toMatch(/^\d+ of/);
    await page.locator("summary", { hasText: "Who" }).click();
    await page.getByRole("checkbox", { name: /^model/ }).check();
    await page.keyboard.press("Escape");
    const address = page.url();
    expect(Object.fromEntries(new URL(address).searchParams)).toMatchObject({
      thread: "travel",
      at: "7",
      tab: "event",
      text: "note.txt",
      by: "model:builtin:planner",
    });
    const rows = page.locator(".timeline-row.kind-event");
    const before = await rows.allTextContents();
    expect(before.length).toBeGreaterThan(0);
    await takePicture(page, "filters-light");
    await expectAccessible(page);
    await page.reload();
    await page.locator(".event-tab[data-version='7']").waitFor();
    await expect.poll(() => rows.allTextContents()).toEqual(before);
    expect(page.url()).toBe(address);
    await page.goBack();
    await expect.poll(() => page.url()).not.toBe(address);
    expectNoProblems(page);
  },
  120_000,
);

import { expect } from "vitest";
import { writeLongThread } from "../../bench/long-thread.ts";
import { threadStream } from "../../events/envelope.ts";
import { redactThread } from "../../projections/redaction.ts";
import { expectAccessible } from "./accessibility.ts";
import { browserTest, expectNoProblems, openPage, takePicture } from "./browser.ts";
import { importHistory, importTeaShop, servePage } from "./served-page.ts";

browserTest(
  "threads: title, status, counts; found in English and Chinese; more as one scrolls; live",
  async () => {
    const served = await servePage();
    for (let number = 0; number < 90; number++)
      await served.agent.thread(`many-${number}`).update({ title: `Report ${number}` });
    await served.agent.thread("tea").update({ title: "给茶叶店做一个网页" });
    await served.agent.thread("work").run("list the files").result;
    const page = await openPage(`${served.url}/`);
    const links = page.locator(".thread-link");
    const first = links.first();
    await first.waitFor();
    expect(await first.textContent()).toMatch(/list the files.*Idle.*events.*messages/);
    expect(await links.count()).toBeLessThan(40);
    await page.locator(".threads-scroller").hover();
    await expect
      .poll(
        async () => {
          await page.mouse.wheel(0, 4_000);
          return page.getByRole("link", { name: /^Report 0 / }).count();
        },
        { timeout: 20_000 },
      )
      .toBe(1);

    const search = page.getByRole("searchbox", { name: "Search title or id" });
    await search.fill("茶叶店");
    await expect.poll(() => links.allTextContents()).toEqual([expect.stringContaining("给茶叶店做一个网页")]);
    await search.fill("report 8");
    await expect.poll(() => links.count()).toBe(11);
    await expect.poll(() => new URL(page.url()).searchParams.get("search")).toBe("report 8");
    await search.fill("no such thread");
    await page.getByText("Nothing found").waitFor();
    await takePicture(page, "threads-nothing-found");
    await expectAccessible(page);
    await search.fill("");
    await expect.poll(() => links.count()).toBeGreaterThan(5);

    await served.agent.thread("new").update({ title: "Just begun" });
    await expect.poll(() => first.textContent(), { timeout: 10_000 }).toContain("Just begun");
    await served.agent.thread("many-5").update({ title: "Renamed" });
    await expect.poll(() => first.textContent(), { timeout: 10_000 }).toContain("Renamed");
    await first.click();
    await page.locator(".timeline-row").first().waitFor();
    await page.goto(`${served.url}/?thread=nowhere`);
    await page.getByRole("alert").filter({ hasText: "not found" }).waitFor();
    await takePicture(page, "thread-not-there");
    await expectAccessible(page);
    expectNoProblems(page, /404/);
  },
  180_000,
);

browserTest(
  "the timeline folds runs and steps, filters, and marks rewinds, forks, redactions and errors",
  async () => {
    const served = await servePage();
    const { store, agent } = served;
    const rewound = await importHistory(served, "rewind");
    const tea = await importTeaShop(served);
    await redactThread(store, tea, { rule: "/茶.店/", reason: "the owner's wish" });
    const fork = await agent.thread(rewound).fork({ at: 5 });
    const page = await openPage(served.at({ thread: rewound }));
    const row = (version: number) => page.locator(`.timeline-row[data-version="${version}"]`);
    const events = page.locator(".timeline-row.kind-event");
    await events.first().waitFor();
    const all = await events.count();

    const runs = page.locator(".timeline-row.kind-run");
    const run = runs.first();
    const folded = Number(/(\d+) events/.exec((await run.textContent()) ?? "")?.[1]);
    await run.locator(".fold-button").click();
    await expect.poll(() => events.count()).toBe(all - folded);
    expect(await run.getAttribute("aria-expanded")).toBe("false");
    await run.locator(".fold-button").click();
    const step = page.locator(".kind-event .fold-button").first();
    const inStep = Number(/(\d+) events/.exec((await step.getAttribute("aria-label")) ?? "")?.[1]);
    await step.click();
    await expect.poll(() => events.count()).toBe(all - inStep + 1);
    await step.click();
    await page.getByRole("button", { name: "Fold all runs" }).click();
    await expect.poll(() => events.count()).toBeLessThan(4);
    await page.getByRole("button", { name: "Unfold all runs" }).click();
    await expect.poll(() => events.count()).toBe(all);

    // A rewind leads back, and what it left behind is named so.
    const { events: rewinds } = await served.json<{
      events: { version: number; data: { toVersion: number } }[];
    }>(`log/v1/threads/${rewound}/events?type=ThreadRewound`);
    const [back] = rewinds;
    expect(await row((back?.data.toVersion ?? 0) + 1).textContent()).toContain("Abandoned");
    expect(await row(1).textContent()).not.toContain("Abandoned");
    await takePicture(page, "timeline-rewound");
    await row(back?.version ?? 0)
      .getByRole("link")
      .click();
    await expect.poll(() => new URL(page.url()).searchParams.get("at")).toBe(String(back?.data.toVersion));

    await page.locator("summary", { hasText: "Types" }).click();
    await page.getByRole("checkbox", { name: /^Model answered/ }).check();
    await page.getByRole("checkbox", { name: /^Rewound/ }).check();
    await takePicture(page, "timeline-types");
    await expectAccessible(page);
    await page.keyboard.press("Escape");
    expect(new Set(await page.locator(".row-kind").allTextContents())).toEqual(
      new Set(["Model answered", "Rewound"]),
    );
    await page.getByRole("button", { name: "Clear filters" }).click();
    await expect.poll(() => events.count()).toBe(all);

    await page.goto(served.at({ thread: tea }));
    await page.locator(".row-badge", { hasText: "Redacted" }).first().waitFor();
    expect(await page.locator("body").textContent()).not.toContain("茶叶店");

    await page.goto(served.at({ thread: fork.id }));
    await row(1)
      .getByRole("link", { name: `from ${rewound}@5` })
      .click();
    await expect.poll(() => new URL(page.url()).searchParams.get("thread")).toBe(rewound);
    expect(new URL(page.url()).searchParams.get("at")).toBe("5");

    await page.keyboard.press("?");
    await page.getByRole("dialog", { name: "Keyboard" }).waitFor();
    await takePicture(page, "help-light");
    await expectAccessible(page);
    await page.keyboard.press("Escape");
    await expect.poll(() => page.getByRole("dialog").count()).toBe(0);
    expectNoProblems(page);
  },
  180_000,
);

browserTest(
  "both languages, both themes, twice the size and a narrow window: readable, without a sideways scroll",
  async () => {
    const served = await servePage();
    await writeLongThread(served.store.log, "work", 400);
    await served.agent
      .thread("long-id-".padEnd(120, "x"))
      .update({ title: "مرحبا بالعالم — a title from right to left" });
    expect((await served.store.log.head(threadStream("work"))).version).toBeGreaterThan(300);
    const page = await openPage(served.at({ thread: "work", at: 200 }), {
      locale: "zh-CN",
      colorScheme: "dark",
    });
    await page.locator(".timeline-row").first().waitFor();
    expect(await page.evaluate(() => document.documentElement.lang)).toBe("zh-CN");
    await page.getByRole("tab", { name: "状态", exact: true }).waitFor();
    await takePicture(page, "chinese-dark");
    await expectAccessible(page);
    await page.getByRole("button", { name: "English" }).click();
    await page.getByRole("tab", { name: "State" }).waitFor();
    await page.getByRole("button", { name: "Colours: as the system" }).click();
    await page.getByRole("button", { name: "Colours: light" }).waitFor();
    expect(await page.evaluate(() => getComputedStyle(document.documentElement).colorScheme)).toBe("light");
    await page.reload();
    await page.getByRole("button", { name: "Colours: light" }).waitFor();
    for (const [name, width, height] of [
      ["zoomed", 720, 450],
      ["narrow", 400, 800],
    ] as const) {
      await page.setViewportSize({ width, height });
      for (const part of ["Threads", "Thread", "Inspector"]) {
        await page.locator(".column-switch").getByRole("button", { name: part, exact: true }).click();
        await page.waitForTimeout(100);
        await takePicture(page, `${name}-${part.toLowerCase()}`);
        await expectAccessible(page);
        const overflow = await page.evaluate(() => document.documentElement.scrollWidth - window.innerWidth);
        expect([name, part, overflow]).toEqual([name, part, 0]);
      }
    }
    expectNoProblems(page);
  },
  180_000,
);

import { expect } from "vitest";
import { expectAccessible } from "./accessibility.ts";
import { browserTest, expectNoProblems, openPage, takePicture } from "./browser.ts";
import { importHistory, importTeaShop, servePage } from "./served-page.ts";

browserTest(
  "a recorded thread and a run of the harness: list, timeline, state and event are shown",
  async () => {
    const served = await servePage();
    const tea = await importTeaShop(served);
    await importHistory(served, "rewind");
    const live = await served.agent
      .thread("live")
      .run("write 'two words' to note.txt then count the words in note.txt").result;
    const page = await openPage(served.at({ thread: "live" }));
    await page.getByRole("treeitem").nth(3).waitFor();
    await expect
      .poll(() => page.locator(".state-tab").getAttribute("data-version"))
      .toBe(String(live.version));
    await takePicture(page, "thread-light");
    await expectAccessible(page);
    await page.goto(served.at({ thread: tea, at: 5, tab: "event" }));
    await page.locator(".event-tab[data-version='5']").waitFor();
    await page.emulateMedia({ colorScheme: "dark" });
    await takePicture(page, "event-dark");
    await expectAccessible(page);
    expectNoProblems(page);
  },
  120_000,
);

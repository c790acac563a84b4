import { expect } from "vitest";
import { ImagesViewed } from "../../events/images.ts";
import { expectAccessible } from "./accessibility.ts";
import { browserTest, expectNoProblems, openPage, takePicture } from "./browser.ts";
import { importHistory, importTeaShop, servePage } from "./served-page.ts";

/** A picture of eight times eight dots. */
const png =
  "iVBORw0KGgoAAAANSUhEUgAAAAgAAAAICAIAAABLbSncAAAAEUlEQVR4nGM4YWODFTEMLQkAZZlQAVIPr1MAAAAASUVORK5CYII=";

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

    // An image is named by its digest; its bytes come when they are asked for.
    const bytes = Buffer.from(png, "base64");
    const { sha256 } = await served.store.blobs.put(bytes, "image/png");
    const seen = {
      "/mnt/user-data/uploads/dot.png": { mime_type: "image/png", size: bytes.byteLength, sha256 },
    };
    const { version } = await served.agent.thread("live").record([ImagesViewed({ images: seen })]);
    const requests: string[] = [];
    page.on("request", (request) => requests.push(request.url()));
    await page.goto(served.at({ thread: "live", at: version }));
    const show = page.locator("[data-field=viewed_images]").getByRole("button", { name: /^Show the image/ });
    await show.waitFor();
    expect(requests.filter((url) => url.includes("/blobs/"))).toEqual([]);
    await show.click();
    const image = page.locator(".blob-image");
    await expect
      .poll(() => image.evaluate((element) => (element as HTMLImageElement).naturalWidth))
      .toBeGreaterThan(0);
    await takePicture(page, "image-dark");
    await expectAccessible(page);
    expectNoProblems(page);
  },
  120_000,
);

browserTest(
  "names in the bar and of the tabs are whole at common widths, and the chosen tab is in sight in a narrow column",
  async () => {
    const served = await servePage();
    const tea = await importTeaShop(served);
    const page = await openPage(served.at({ thread: tea, tab: "branches" }), {
      viewport: { width: 1280, height: 800 },
    });
    const tabs = page.locator(".tab-list");
    await tabs.getByRole("tab").last().waitFor();
    const isCut = () => tabs.evaluate((list) => list.scrollWidth > list.clientWidth);
    expect(await isCut()).toBe(false);
    await page.setViewportSize({ width: 1000, height: 800 });
    await page.reload();
    const last = tabs.getByRole("tab").last();
    await last.waitFor();
    await expect
      .poll(async () => {
        const [tab, list] = [await last.boundingBox(), await tabs.boundingBox()];
        return tab !== null && list !== null && tab.x + tab.width <= list.x + list.width + 1;
      })
      .toBe(true);
    for (const width of [1440, 1000, 720, 640, 480]) {
      await page.setViewportSize({ width, height: 800 });
      const { height } = (await page.locator(".top-bar").boundingBox()) ?? { height: 0 };
      expect(height, `${width} px wide`).toBeLessThan(46);
      expect(await page.evaluate(() => document.documentElement.scrollWidth <= window.innerWidth)).toBe(true);
    }
    await page.goto(served.at({ thread: "no-such-thread" }));
    await page.getByRole("alert").filter({ hasText: "has no thread “no-such-thread”" }).waitFor();
    await takePicture(page, "no-such-thread");
    await expectAccessible(page);
    expectNoProblems(page, /404/);
  },
  120_000,
);

browserTest(
  "a reader is not invited to begin a thread; the help sheet begins at its top in a low window, its button in sight",
  async () => {
    const served = await servePage({ server: { readOnly: true } });
    const tea = await importTeaShop(served);
    const page = await openPage(served.at({ thread: tea }), { viewport: { width: 640, height: 450 } });
    await page.getByText("Read only").waitFor();
    await expect
      .poll(() => page.locator(".bar-link").allTextContents())
      .toEqual(["Read models", "Open a file"]);
    await page.locator(".timeline-row").first().waitFor();
    await page.keyboard.press("?");
    const sheet = page.getByRole("dialog");
    await sheet.waitFor();
    expect(await sheet.evaluate((element) => element.scrollHeight > element.clientHeight)).toBe(true);
    expect(await sheet.evaluate((element) => element.scrollTop)).toBe(0);
    const [whole, close] = [
      await sheet.boundingBox(),
      await sheet.getByRole("button", { name: "Close" }).boundingBox(),
    ];
    expect((close?.y ?? 0) + (close?.height ?? 0)).toBeLessThanOrEqual(
      (whole?.y ?? 0) + (whole?.height ?? 0),
    );
    await takePicture(page, "help-low");
    await expectAccessible(page);
    expectNoProblems(page);
  },
  120_000,
);

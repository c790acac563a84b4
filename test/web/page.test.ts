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

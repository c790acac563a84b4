import type { Page } from "playwright-core";
import { expect } from "vitest";
import { takePicture } from "./browser.ts";

/** Expects that the open tab of a Chinese page is whole at a zoom of 200 % (of 1,280 px) and on a phone. */
export async function expectFitsNarrowPage(page: Page, pictures: string): Promise<void> {
  const isCut = () =>
    page
      .locator(".tab-content[data-state=active]")
      .evaluate((element) => element.scrollWidth > element.clientWidth);
  await page.setViewportSize({ width: 640, height: 720 });
  await page.getByRole("button", { name: "检查器" }).click();
  await takePicture(page, `${pictures}-zoom-zh`);
  expect(await isCut()).toBe(false);
  await page.setViewportSize({ width: 360, height: 720 });
  await takePicture(page, `${pictures}-narrow-zh`);
  expect(await isCut()).toBe(false);
}

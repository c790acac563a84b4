import { existsSync, mkdirSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { type Browser, type BrowserContextOptions, chromium, type Page } from "playwright-core";
import { afterAll, expect, test } from "vitest";

const browserPath = ["/usr/bin/chromium", "/usr/bin/chromium-browser"].find((path) => existsSync(path));
const isRequired = process.env.THREADFOLD_REQUIRE_SYSTEM === "1";
const isMissing = browserPath === undefined && !isRequired;
if (isMissing) process.stderr.write("test/web is skipped: there is no /usr/bin/chromium\n");

/** A test that needs a browser. Without one it is skipped, unless the environment says that it must be there. */
export const browserTest = test.skipIf(isMissing);

/** Where screenshots are kept; git does not see it. */
const pictures = fileURLToPath(new URL("../../test-artifacts/web/", import.meta.url));

let browser: Promise<Browser> | undefined;
const pages: Page[] = [];

afterAll(async () => {
  await (await browser)?.close();
});

/** What went wrong on a page: errors of scripts, and what the content security policy refused. */
const problems = new WeakMap<Page, string[]>();

/** A page in the one browser of this file. What it logs as an error fails the test that asks `expectNoProblems`. */
export async function openPage(url: string, options: BrowserContextOptions = {}): Promise<Page> {
  browser ??= chromium.launch({
    executablePath: browserPath ?? "chromium",
    args: ["--no-sandbox", "--font-render-hinting=none"],
  });
  const context = await (await browser).newContext({
    viewport: { width: 1440, height: 900 },
    locale: "en-GB",
    timezoneId: "UTC",
    ...options,
  });
  const page = await context.newPage();
  const found: string[] = [];
  problems.set(page, found);
  pages.push(page);
  page.on("pageerror", (error) => found.push(error.message));
  page.on("console", (message) => {
    if (message.type() === "error") found.push(message.text());
  });
  page.on("request", (request) => {
    const target = new URL(request.url());
    const isOwn = target.origin === new URL(url).origin || /^(?:blob|data):$/.test(target.protocol);
    if (!isOwn) found.push(`a request left the origin: ${request.url()}`);
  });
  await page.goto(url);
  return page;
}

/** Errors of the page so far. Those that a test brings about on purpose are taken by `but`. */
export function expectNoProblems(page: Page, but: RegExp = /^$/): void {
  expect((problems.get(page) ?? []).filter((problem) => !but.test(problem))).toEqual([]);
}

/** Keeps a picture of the page for people to look at. */
export async function takePicture(page: Page, name: string): Promise<void> {
  mkdirSync(pictures, { recursive: true });
  await page.screenshot({ path: `${pictures}${name}.png` });
}

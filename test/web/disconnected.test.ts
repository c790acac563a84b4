import { fork } from "node:child_process";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { expect } from "vitest";
import { createAgent } from "../../actors/create-agent.ts";
import { hashToken } from "../../apps/server/index.ts";
import { openStore } from "../../events/open-store.ts";
import { afterTest } from "../server/served-agents.ts";
import { expectAccessible } from "./accessibility.ts";
import { browserTest, expectNoProblems, openPage, takePicture } from "./browser.ts";
import { builtPage } from "./built-page.ts";
import { servePage } from "./served-page.ts";

const script = fileURLToPath(new URL("served-page-process.ts", import.meta.url));

/** Starts the server's process and gives its address. */
async function startProcess(path: string, port: number) {
  const child = fork(script, [path, String(port), await builtPage()], {
    execArgv: ["--import", import.meta.resolve("tsx")],
    stdio: "inherit",
  });
  afterTest(async () => void child.kill("SIGKILL"));
  const url = await new Promise<string>((resolve) => child.once("message", (text) => resolve(String(text))));
  return {
    url,
    kill: () =>
      new Promise<void>((resolve) => {
        child.once("exit", () => resolve());
        child.kill("SIGKILL");
      }),
  };
}

browserTest(
  "a server that is killed and started again: the page says so, comes back by itself and misses nothing",
  async () => {
    const folder = await mkdtemp(join(tmpdir(), "killed-"));
    afterTest(() => rm(folder, { recursive: true, force: true }));
    const path = join(folder, "threads.db");
    const store = await openStore(`sqlite:${path}`);
    afterTest(() => store.close());
    const agent = createAgent({ model: "builtin:planner", store });
    afterTest(() => agent.close());
    const thread = agent.thread("killed");
    const { version: first } = await thread.run("what is 1 + 1?").result;
    const before = await startProcess(path, 0);
    const page = await openPage(`${before.url}/?thread=killed`);
    const lastRow = () => page.locator(".timeline-row[aria-selected=true]").getAttribute("data-version");
    await expect.poll(lastRow).toBe(String(first));
    await page.locator(".state-tab").waitFor();
    await page.evaluate(() => Object.assign(window, { isSamePage: true }));

    await before.kill();
    await page.getByRole("alert").filter({ hasText: "Disconnected" }).waitFor();
    await takePicture(page, "disconnected-light");
    await expectAccessible(page);
    // What was there can still be looked at.
    await page.locator(".timeline-row[data-version='3']").click();
    await page.keyboard.press("End");

    // Something happens while the page hears nothing, and another thread begins.
    const { version: second } = await thread.run("what is 2 + 2?").result;
    await agent.thread("meanwhile").run("what is 3 + 3?").result;
    const after = await startProcess(path, Number(new URL(before.url).port));
    await page.getByRole("alert").waitFor({ state: "detached", timeout: 20_000 });
    await expect.poll(lastRow, { timeout: 20_000 }).toBe(String(second));
    await expect.poll(() => page.locator(".thread-link").count(), { timeout: 20_000 }).toBe(2);
    // What comes now is heard live again.
    const { version: third } = await thread.run("what is 4 + 4?").result;
    await expect.poll(lastRow, { timeout: 20_000 }).toBe(String(third));
    const versions = await page
      .locator(".timeline-row.kind-event")
      .evaluateAll((rows) => rows.map((row) => Number(row.getAttribute("data-version"))));
    const [from = 0] = versions;
    expect(versions).toEqual(Array.from({ length: versions.length }, (_, index) => from + index));
    expect(versions.at(-1)).toBe(third);
    expect(await page.evaluate(() => "isSamePage" in window)).toBe(true);
    expectNoProblems(
      page,
      /ERR_CONNECTION_REFUSED|ERR_INCOMPLETE_CHUNKED|ERR_CONNECTION_RESET|ERR_EMPTY_RESPONSE/,
    );
    await after.kill();
  },
  120_000,
);

browserTest(
  "live events: followed at the end, counted while one looks back",
  async () => {
    const served = await servePage();
    const thread = served.agent.thread("live");
    for (let turn = 0; turn < 5; turn++) await thread.run("what is 1 + 1?").result;
    const page = await openPage(served.at({ thread: "live" }));
    const lastRow = () => page.locator(".timeline-row[aria-selected=true]").getAttribute("data-version");
    const head = async () => String((await thread.info()).version);
    await expect.poll(lastRow).toBe(await head());
    await thread.run("what is 2 + 2?").result;
    await expect.poll(lastRow).toBe(await head());
    await page.locator(".timeline-scroller").hover();
    await page.mouse.wheel(0, -400);
    await page.waitForTimeout(100);
    const before = await page.locator(".timeline-scroller").evaluate((element) => element.scrollTop);
    const from = (await thread.info()).version;
    await thread.run("what is 3 + 3?").result;
    const more = (await thread.info()).version - from;
    const pill = page.getByRole("button", { name: `${more} new` });
    await pill.waitFor();
    expect(await page.locator(".timeline-scroller").evaluate((element) => element.scrollTop)).toBe(before);
    await takePicture(page, "new-events");
    await pill.click();
    await expect.poll(lastRow).toBe(await head());
    await pill.waitFor({ state: "detached" });
    // A version that is looked at stays what is shown.
    await page.goto(served.at({ thread: "live", at: 5 }));
    await page.locator(".state-tab[data-version='5']").waitFor();
    await thread.run("what is 5 + 5?").result;
    await page.getByRole("button", { name: /new$/ }).waitFor();
    expect(await page.getByRole("slider").getAttribute("aria-valuenow")).toBe("5");
    expectNoProblems(page);
  },
  120_000,
);

browserTest(
  "a token is asked for in a dialog, kept for the tab, and stands in no address",
  async () => {
    const tokens = [{ name: "ada", sha256: hashToken("secret-of-ada"), scope: "read" as const }];
    const served = await servePage({ server: { tokens } });
    await served.agent.thread("guarded").run("what is 1 + 1?").result;
    const page = await openPage(served.at({ thread: "guarded" }));
    const addresses: string[] = [];
    page.on("request", (request) => addresses.push(request.url()));
    const dialog = page.getByRole("dialog", { name: "This server needs a token" });
    await dialog.waitFor();
    await page.getByRole("textbox", { name: "Token" }).fill("wrong");
    await page.keyboard.press("Enter");
    await page.getByText("That token was not accepted.").waitFor();
    await takePicture(page, "token-light");
    await expectAccessible(page);
    await page.getByRole("textbox", { name: "Token" }).fill("secret-of-ada");
    await page.keyboard.press("Enter");
    await page.locator(".timeline-row").first().waitFor();
    await page.reload();
    await page.locator(".timeline-row").first().waitFor();
    expect(await dialog.count()).toBe(0);
    expect(addresses.filter((address) => /secret|wrong/.test(address))).toEqual([]);
    expect(page.url()).not.toContain("secret");
    expect(await page.evaluate(() => JSON.stringify({ ...window.localStorage }))).not.toContain("secret");
    expectNoProblems(page, /401/);
  },
  60_000,
);

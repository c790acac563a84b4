import { readFile } from "node:fs/promises";
import { fileURLToPath } from "node:url";
import { gzipSync } from "node:zlib";
import { DatabaseSync } from "@photostructure/sqlite";
import type { Download, Page } from "playwright-core";
import { expect } from "vitest";
import { openStore } from "../../events/open-store.ts";
import { importText } from "../../projections/thread-import.ts";
import { counterexampleLines } from "../../testing/counterexample.ts";
import { expectAccessible } from "./accessibility.ts";
import { browserTest, expectNoProblems, openPage, takePicture } from "./browser.ts";
import { importTeaShop, servePage } from "./served-page.ts";

const timeout = 180_000;
const eventually = <Value>(look: () => Promise<Value>) => expect.poll(look, { timeout: 20_000 });

async function inBothThemes(page: Page, name: string) {
  for (const colorScheme of ["light", "dark"] as const) {
    await page.emulateMedia({ colorScheme });
    await takePicture(page, `${name}-${colorScheme}`);
    await expectAccessible(page);
  }
  await page.emulateMedia({ colorScheme: "light" });
}

const history = (name: string) =>
  readFile(fileURLToPath(new URL(`../histories/0.1.0/${name}.ndjson`, import.meta.url)), "utf8");

async function saved(page: Page, button: string): Promise<{ name: string; text: string }> {
  const [download] = await Promise.all([
    page.waitForEvent("download") as Promise<Download>,
    page.getByRole("button", { name: button }).click(),
  ]);
  return { name: download.suggestedFilename(), text: await readFile(await download.path(), "utf8") };
}

/** Drops a file on the page, as a desktop does. */
async function dropFile(page: Page, name: string, text: string) {
  const data = await page.evaluateHandle(
    ([fileName, content]) => {
      const transfer = new DataTransfer();
      transfer.items.add(new File([content ?? ""], fileName ?? ""));
      return transfer;
    },
    [name, text],
  );
  await page.dispatchEvent("body", "dragenter", { dataTransfer: data });
  await takePicture(page, "audit-drop");
  await page.dispatchEvent("body", "drop", { dataTransfer: data });
}

browserTest(
  "an intact record says so; a record that was changed on disk is named, with the way to it",
  async () => {
    const served = await servePage();
    await served.agent.thread("kept").run("write 'two words' to note.txt then count the words in note.txt")
      .result;
    const page = await openPage(served.at({ thread: "kept", pane: "audit" }));
    await page.locator(".verify-badge.is-intact").waitFor();
    await inBothThemes(page, "audit-intact");

    const database = new DatabaseSync(served.store.url.replace(/^sqlite:/, ""));
    database.prepare("UPDATE events SET at = at + 1 WHERE version = 4").run();
    database.close();
    await page.getByRole("button", { name: "Check again" }).click();
    await page.locator(".verify-badge.is-broken").waitFor();
    expect(await page.locator(".verify-badge").textContent()).toContain("version 4");
    await inBothThemes(page, "audit-broken");
    await page.getByRole("link", { name: "Show version 4" }).click();
    await page.locator(".event-tab[data-version='4']").waitFor();
    expectNoProblems(page);
  },
  timeout,
);

browserTest(
  "what is exported is what the filters of the timeline show, and the whole thread can be imported elsewhere",
  async () => {
    const served = await servePage();
    await served.agent.thread("kept").run("write 'two words' to note.txt then count the words in note.txt")
      .result;
    const page = await openPage(
      served.at({ thread: "kept", pane: "audit", type: "ModelResponded", text: "note" }),
    );
    await page.locator(".audit-filter").nth(1).waitFor();
    const { events } = await served.json<{ events: { version: number; data: unknown }[] }>(
      "log/v1/threads/kept/events?type=ModelResponded",
    );
    const fitting = events.filter(({ data }) => JSON.stringify(data).includes("note"));
    expect(fitting.length).toBeGreaterThan(0);
    const lines = await saved(page, "Events as NDJSON");
    expect(lines.name).toBe("kept-events.ndjson");
    expect(
      lines.text
        .trim()
        .split("\n")
        .map((line) => JSON.parse(line) as unknown),
    ).toEqual(fitting);
    const table = await saved(page, "Events as CSV");
    const rows = table.text.trim().split("\r\n");
    expect(rows[0]).toContain("thread,version,recorded_at,type");
    expect(rows).toHaveLength(fitting.length + 1);
    await inBothThemes(page, "audit-export");

    const whole = await saved(page, "Whole thread");
    const store = await openStore("memory:");
    const { threads } = await importText(store, whole.text);
    expect(threads.map(({ threadId }) => threadId)).toEqual(["kept"]);
    await store.close();
    expectNoProblems(page);
  },
  timeout,
);

browserTest(
  "a dropped export is shown read only and stored nowhere; a damaged file is refused in words",
  async () => {
    const served = await servePage();
    await importTeaShop(served);
    const text = await history("rewind");
    const page = await openPage(served.at({ screen: "open" }));
    await page.getByRole("heading", { name: "Open a file" }).waitFor();
    await inBothThemes(page, "audit-open");
    await dropFile(page, "damaged.ndjson", text.replace(/"recordedAt":"2/, '"recordedAt":"1'));
    const dialog = page.getByRole("dialog");
    await dialog.getByText("damaged.ndjson").waitFor();
    expect(await dialog.textContent()).toMatch(/hash/);
    await inBothThemes(page, "audit-refused");
    await dialog.getByRole("button", { name: "OK" }).click();

    await dropFile(page, "\u202egnp.export <b>.ndjson", text);
    await page.waitForURL(/\/opened\/[0-9a-f-]{36}\/\?thread=/);
    await page.getByRole("treeitem").nth(2).waitFor();
    await page.getByText("Read only", { exact: true }).waitFor();
    expect(await page.locator(".opened-name").textContent()).toContain("U+202E");
    await inBothThemes(page, "audit-opened");
    await page.keyboard.press("a");
    await page.locator(".verify-badge.is-intact").waitFor();
    await page.keyboard.press("c");
    await page.getByText("Read only: messages cannot be sent here.").waitFor();
    await takePicture(page, "audit-opened-chat");
    await page.reload();
    await page.getByText("Read only: messages cannot be sent here.").waitFor();
    await page.getByRole("link", { name: "Back to the threads of the server" }).click();
    await page.locator(".thread-link").first().waitFor();
    expect(await page.locator(".thread-link").count()).toBe(1);
    expectNoProblems(page, /422/);
  },
  timeout,
);

browserTest(
  "a counterexample of a fuzz run, packed, is opened as a thread",
  async () => {
    const served = await servePage();
    const events = [
      { type: "TodosWritten", data: { todos: [{ content: "a", status: "pending" }] } },
      { type: "TodosWritten", data: { todos: [] } },
    ];
    const lines = counterexampleLines({ events } as never).join("\n");
    const page = await openPage(served.at({ screen: "open" }));
    await page
      .locator("input[type=file]")
      .setInputFiles([{ name: "bug.ndjson.gz", mimeType: "application/gzip", buffer: gzipSync(lines) }]);
    await page.waitForURL(/\/opened\/.*thread=fuzz-/);
    await eventually(() => page.getByRole("treeitem").count()).toBeGreaterThanOrEqual(2);
    await page.keyboard.press("ArrowLeft");
    await page.locator(".state-tab[data-version='1']").waitFor();
    expect(await page.locator(".state-tab").textContent()).toContain("pending");
    await inBothThemes(page, "audit-fuzz");
    expectNoProblems(page);
  },
  timeout,
);

browserTest(
  "read models show their lag, are compared with a rebuild, and are rebuilt with progress; all of it in Chinese, too",
  async () => {
    const served = await servePage();
    await importTeaShop(served);
    const page = await openPage(served.at({ screen: "models" }));
    const row = page.getByRole("row").filter({ hasText: "thread-list" });
    await row.getByText("up to date").waitFor();
    await row.getByRole("button", { name: "Compare thread-list with a rebuild" }).click();
    await row.getByText("A rebuild gives the same rows.").waitFor();
    await row.getByRole("button", { name: "Rebuild thread-list" }).click();
    await row.getByText(/Rebuilt from \d+ events; rows: 1\./).waitFor();
    await inBothThemes(page, "audit-models");
    await page.getByRole("button", { name: "中文" }).click();
    await page.getByRole("heading", { name: "读模型" }).waitFor();
    const tea = (await served.json<{ threads: { threadId: string }[] }>("log/v1/threads")).threads[0]
      ?.threadId;
    await page.goto(served.at({ thread: tea ?? "", pane: "audit" }));
    await page.locator(".verify-badge.is-intact").waitFor();
    await inBothThemes(page, "audit-zh");
    expectNoProblems(page);
  },
  timeout,
);

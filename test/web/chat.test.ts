import { readFile } from "node:fs/promises";
import type { Page } from "playwright-core";
import { expect } from "vitest";
import { deferred } from "../../actors/deferred.ts";
import type { HarnessOptions } from "../../actors/harness.ts";
import { ScriptedModel, type ScriptedModelOptions } from "../actors/scripted-model.ts";
import { callsTools } from "../actors/simple-tools.ts";
import { expectAccessible } from "./accessibility.ts";
import { browserTest, expectNoProblems, openPage, takePicture } from "./browser.ts";
import { servePage } from "./served-page.ts";

const timeout = 120_000;

/** A harness whose model says what is written down. */
async function serveChat(answers: ScriptedModelOptions["answers"], harness: HarnessOptions = {}) {
  const model = new ScriptedModel({ answers, streaming: true });
  const served = await servePage({
    agent: { model, harness: { todos: { maxReminders: 0 }, title: false, ...harness } },
  });
  return { ...served, model };
}

/** The model's word for what it was asked last. */
const echo: ScriptedModelOptions["answers"] = (messages) => `You said: ${messages.at(-1)?.text}`;

const write = async (page: Page, text: string) => {
  await page.getByLabel("Message", { exact: true }).fill(text);
  await page.keyboard.press("Enter");
};
const said = (page: Page) => page.locator(".chat-message .chat-bubble");
const texts = async (page: Page) => said(page).allTextContents();

/** A busy machine takes its time. */
const eventually = <Value>(look: () => Promise<Value>) => expect.poll(look, { timeout: 20_000 });

/** The same view in both themes, looked at by axe. */
async function inBothThemes(page: Page, name: string) {
  for (const colorScheme of ["light", "dark"] as const) {
    await page.emulateMedia({ colorScheme });
    await takePicture(page, `${name}-${colorScheme}`);
    await expectAccessible(page);
  }
  await page.emulateMedia({ colorScheme: "light" });
}

browserTest(
  "a thread is begun, tokens are seen while they come, a run is stopped, and the next message is answered",
  async () => {
    const served = await serveChat([
      "The first answer comes in words.\n\n```ts\nconst answer = 42;\n```\n\nThat is all.",
      (_messages, options) =>
        new Promise<string>((_resolve, reject) => {
          const { signal } = options as { readonly signal?: AbortSignal };
          signal?.addEventListener("abort", () => reject(signal.reason));
        }),
      "Answered after the stop.",
    ]);
    const page = await openPage(served.at({ screen: "new" }));
    await page.getByRole("heading", { name: "Begin a thread" }).waitFor();
    await inBothThemes(page, "chat-new");
    await write(page, "What is the answer?");
    await eventually(() => said(page).last().textContent()).toContain("That is all.");
    await eventually(() => page.locator(".chat-code pre").textContent()).toBe("const answer = 42;");
    await page.locator(".chat-working").waitFor({ state: "detached" });

    await write(page, "Now take for ever.");
    await page.getByRole("button", { name: "Stop" }).click();
    await page.getByText("The run was stopped.").waitFor();
    await write(page, "Still there?");
    await eventually(() => said(page).last().textContent()).toBe("Answered after the stop.");
    await eventually(() => said(page).count()).toBe(5);
    await inBothThemes(page, "chat-sent");
    expectNoProblems(page);
  },
  timeout,
);

browserTest(
  "tokens are on the page before the run is over, and whoever loads it again goes on seeing them",
  async () => {
    const go = deferred<void>();
    const served = await serveChat(["unused"]);
    const slow = served.model;
    slow._streamResponseChunks = async function* (_messages, _options, runManager) {
      const { AIMessageChunk } = await import("@langchain/core/messages");
      const { ChatGenerationChunk } = await import("@langchain/core/outputs");
      for (const [index, text] of ["Half of it", " and the rest."].entries()) {
        if (index === 1) await go.promise;
        const chunk = new ChatGenerationChunk({ text, message: new AIMessageChunk({ content: text }) });
        yield chunk;
        await runManager?.handleLLMNewToken(text);
      }
    };
    const { thread_id: thread } = (await (
      await fetch(`${served.url}/threads`, {
        method: "POST",
        headers: { "content-type": "application/json" },
        body: "{}",
      })
    ).json()) as { thread_id: string };
    const page = await openPage(served.at({ thread, pane: "chat" }));
    await write(page, "Slowly, please");
    await page.locator("[data-streaming]").getByText("Half of it").waitFor();
    await page.reload();
    await page.locator(".chat-working").waitFor();
    go.resolve();
    await eventually(() => texts(page)).toEqual(["Slowly, please", "Half of it and the rest."]);
    expectNoProblems(page);
  },
  timeout,
);

browserTest(
  "a call is approved, edited and rejected, and a question is answered",
  async () => {
    const path = "/mnt/user-data/outputs/note.md";
    const writes = (content: string, id: string) => callsTools(["write_file", { path, content }, id]);
    const served = await serveChat(
      [
        writes("one", "w1"),
        writes("two", "w2"),
        writes("three", "w3"),
        callsTools(["ask_clarification", { question: "Which colour?", options: ["red", "blue"] }, "q1"]),
        callsTools(["ask_clarification", { question: "And which shape?", context: "Any will do." }, "q2"]),
        "Blue it is.",
      ],
      { humanApproval: { interruptOn: { write_file: true } } },
    );
    const page = await openPage(served.at({ screen: "new" }));
    await write(page, "Write three notes");
    const card = page.locator(".chat-question");
    await card.getByRole("heading", { name: "May the agent do this?" }).waitFor();
    await inBothThemes(page, "chat-approval");
    await card.getByRole("button", { name: "Approve", exact: true }).click();

    await card.getByText('"two"').waitFor();
    await card.getByRole("button", { name: "Edit the arguments" }).click();
    const args = card.getByLabel("Arguments as JSON");
    await args.fill("{ broken");
    await card.getByRole("button", { name: "Approve as edited" }).click();
    await card.getByText("This is no JSON object.").waitFor();
    await takePicture(page, "chat-approval-edit");
    await args.fill(JSON.stringify({ path, content: "two, edited" }));
    await card.getByRole("button", { name: "Approve as edited" }).click();

    await card.getByText('"three"').waitFor();
    await card.getByRole("button", { name: "Reject", exact: true }).click();
    await card.getByLabel("Why? The agent reads this.").fill("Two are enough");
    await takePicture(page, "chat-reject");
    await card.getByRole("button", { name: "Reject the call" }).click();

    await card.getByText("Which colour?").waitFor();
    await inBothThemes(page, "chat-question");
    await card.getByRole("button", { name: "blue" }).click();
    await card.getByText("And which shape?").waitFor();
    await card.getByLabel("Answer").fill("round");
    await page.keyboard.press("Enter");
    await eventually(() => said(page).last().textContent()).toBe("Blue it is.");

    const calls = page.locator(".chat-call");
    await expect
      .poll(() => calls.locator(".chat-call-state").allTextContents())
      .toEqual(["done", "done", "failed", "done", "done"]);
    for (const call of await calls.all()) await call.getByRole("button").first().click();
    const results = await page.locator(".chat-result").allTextContents();
    expect(results[2]).toContain("Two are enough");
    expect(results.slice(3)).toEqual(["blue", "round"]);
    await takePicture(page, "chat-calls");
    const [row] = (await served.json<{ threads: { threadId: string }[] }>("log/v1/threads")).threads;
    const events = await served.json<{ events: { data: { decision?: unknown; answer?: unknown } }[] }>(
      `log/v1/threads/${row?.threadId}/events?type=InterruptResolved`,
    );
    expect(JSON.stringify(events)).toContain("two, edited");
    expectNoProblems(page);
  },
  timeout,
);

browserTest(
  "several calls are decided together, and a run that failed says why and can be tried again",
  async () => {
    const call = (content: string, id: string) =>
      ["write_file", { path: `/mnt/user-data/outputs/${id}.md`, content }, id] as const;
    const served = await serveChat(
      [
        callsTools(call("one", "w1"), call("two", "w2")),
        new Error("The model is out of tea."),
        "Now it worked.",
      ],
      { humanApproval: { interruptOn: { write_file: true } }, modelRetry: false },
    );
    const page = await openPage(served.at({ screen: "new" }));
    await write(page, "Write two notes");
    const cards = page.locator(".chat-question");
    await cards.nth(1).waitFor();
    await cards.nth(0).getByRole("button", { name: "Approve", exact: true }).click();
    await cards.nth(0).getByText("Decided · 1 more to decide").waitFor();
    await inBothThemes(page, "chat-two-questions");
    await cards.nth(0).getByRole("button", { name: "Change" }).click();
    await cards.nth(0).getByRole("button", { name: "Approve", exact: true }).click();
    await cards.nth(0).getByText("Decided · 1 more to decide").waitFor();
    await cards.nth(1).getByRole("button", { name: "Approve", exact: true }).click();
    await page.locator(".chat-failure").getByText("The model is out of tea.").waitFor();
    const states = page.locator(".chat-call-state");
    await eventually(() => states.allTextContents()).toEqual(["done", "done"]);
    await inBothThemes(page, "chat-failed");
    await page.reload();
    await page.locator(".chat-failure").getByText("The model is out of tea.").waitFor();
    await write(page, "Again, please");
    await eventually(() => said(page).last().textContent()).toBe("Now it worked.");
    await eventually(() => page.locator(".chat-failure").count()).toBe(0);
    expectNoProblems(page);
  },
  timeout,
);

browserTest(
  "an edited message and another answer are branches that can be gone through and gone on from",
  async () => {
    let count = 0;
    const served = await serveChat((messages) => {
      count += 1;
      return `${count}: ${messages.at(-1)?.text}`;
    });
    const page = await openPage(served.at({ screen: "new" }));
    await write(page, "tea");
    await eventually(() => texts(page)).toEqual(["tea", "1: tea"]);
    await page.getByRole("button", { name: "Answer again" }).click();
    await eventually(() => texts(page)).toEqual(["tea", "2: tea"]);
    await page.getByRole("button", { name: "Edit", exact: true }).click();
    await page.getByLabel("Say it in other words").fill("coffee");
    await page.getByRole("button", { name: "Send as a branch" }).click();
    await eventually(() => texts(page)).toEqual(["coffee", "3: coffee"]);
    await eventually(() => page.locator(".chat-ways").allTextContents()).toEqual([" 2 of 2"]);
    await inBothThemes(page, "chat-branches");

    await page.getByRole("button", { name: "Previous branch" }).click();
    await eventually(() => texts(page)).toEqual(["tea", "2: tea"]);
    await eventually(() => page.locator(".chat-ways").allTextContents()).toEqual([" 1 of 2", " 2 of 2"]);
    await page.locator(".chat-past").waitFor();
    await inBothThemes(page, "chat-past");
    await page.getByRole("button", { name: "Go on from here" }).click();
    await page.locator(".chat-past").waitFor({ state: "detached" });
    await write(page, "with milk");
    await eventually(() => texts(page)).toEqual(["tea", "2: tea", "with milk", "4: with milk"]);
    expectNoProblems(page);
  },
  timeout,
);

const png =
  "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==";

browserTest(
  "files are sent with a message; files of the agent are shown as what they are made of and can be saved",
  async () => {
    const html = "<script>document.title = 'pwned'</script><img src=x onerror=\"document.title='pwned'\">";
    const out = "/mnt/user-data/outputs";
    const served = await serveChat([
      callsTools(
        ["write_file", { path: `${out}/page.html`, content: html }, "w1"],
        [
          "write_file",
          { path: `${out}/drawing.svg`, content: "<svg onload=\"document.title='pwned'\"/>" },
          "w2",
        ],
      ),
      callsTools(["present_files", { filepaths: [`${out}/page.html`, `${out}/drawing.svg`] }, "p1"]),
      "There you are.",
    ]);
    const page = await openPage(served.at({ screen: "new" }));
    await page.locator("input[type=file]").setInputFiles([
      { name: "notes.txt", mimeType: "text/plain", buffer: Buffer.from("remember the milk") },
      { name: "picture.png", mimeType: "image/png", buffer: Buffer.from(png, "base64") },
    ]);
    await page.getByRole("button", { name: "Remove picture.png" }).click();
    await takePicture(page, "chat-attached");
    await write(page, "Make a page of this");
    await eventually(() => said(page).last().textContent()).toBe("There you are.");
    await page.locator(".from-user .chat-file").getByText("notes.txt").waitFor();
    expect(served.model.calls[0]?.messages.at(-1)?.text).toContain("notes.txt");
    expect(await said(page).first().textContent()).toBe("Make a page of this");

    await page.getByRole("button", { name: "Open page.html" }).click();
    await page.locator(".artifact-text").getByText("<script>").waitFor();
    expect(await page.locator(".artifact-text").textContent()).toBe(html);
    await inBothThemes(page, "chat-artifact");
    const [download] = await Promise.all([
      page.waitForEvent("download"),
      page.getByRole("button", { name: "Download" }).click(),
    ]);
    expect(download.suggestedFilename()).toBe("page.html");
    expect(await readFile(await download.path(), "utf8")).toBe(html);
    await page.keyboard.press("Escape");
    await page.getByRole("button", { name: "Open drawing.svg" }).click();
    await page.locator(".artifact-text").getByText("<svg").waitFor();
    expect(await page.locator("dialog img, dialog svg:not(.icon)").count()).toBe(0);
    expect(await page.title()).not.toBe("pwned");
    expectNoProblems(page);
  },
  timeout,
);

browserTest(
  "whatever a message, a name or an output holds, nothing of it acts",
  async () => {
    const attack = [
      "<script>window.pwned = 1</script><img src=x onerror='window.pwned = 1'><svg onload='window.pwned = 1'/>",
      "[click](javascript:window.pwned=1) javascript:window.pwned=1 data:text/html,<script>1</script>",
      "\u001b[31mred\u001b[0m \u001b]0;ti\u202etle\u0007 \u202egnp.exe\u202c \u2066x\u2069 a\u200bb",
      "https://example.org/a?b=<c>&\u202ed",
      "```html\n<script>window.pwned = 1</script>\n```",
    ].join("\n\n");
    const name = "\u202egpj.exe <img src=x onerror=window.pwned=1>.txt";
    const served = await serveChat([
      callsTools(["bash", { command: `printf '%s' '<b onmouseover=alert(1)>${"\u001b"}[2J out</b>'` }, "b1"]),
      attack,
      echo,
    ]);
    const page = await openPage(served.at({ screen: "new" }));
    await page
      .locator("input[type=file]")
      .setInputFiles([{ name, mimeType: "text/plain", buffer: Buffer.from("x") }]);
    await write(page, attack);
    await eventually(() => said(page).count()).toBe(2);
    await page.locator(".chat-working").waitFor({ state: "detached" });
    await page.locator(".chat-call button").first().click();
    await inBothThemes(page, "chat-hostile");
    expect(await page.evaluate(() => "pwned" in window)).toBe(false);
    const inside = await page.evaluate(() =>
      [...document.querySelectorAll(".chat-messages *")].map(({ localName }) => localName),
    );
    for (const tag of ["script", "img", "b", "iframe"]) expect(inside).not.toContain(tag);
    const links = await page
      .locator(".chat-messages a")
      .evaluateAll((all) =>
        all.map((link) => [(link as HTMLAnchorElement).protocol, (link as HTMLAnchorElement).rel]),
      );
    expect(links.length).toBeGreaterThan(0);
    for (const [protocol, rel] of links) {
      expect(protocol).toBe("https:");
      expect(rel).toContain("noopener");
    }
    const shown = (await said(page).last().textContent()) ?? "";
    expect(shown).toContain("U+202E");
    expect(shown.replaceAll("\n", "")).not.toMatch(/\p{Cc}|[\u202a-\u202e\u2066-\u2069\u200b]/u);
    expectNoProblems(page);
  },
  timeout,
);

browserTest(
  "in Chinese, with Chinese and right-to-left text, by the keyboard alone, at twice the size",
  async () => {
    const served = await serveChat(echo);
    const page = await openPage(served.at({ screen: "new" }), {
      locale: "zh-CN",
      viewport: { width: 720, height: 450 },
    });
    await page.getByRole("heading", { name: "开始一个会话" }).waitFor();
    await page.keyboard.press("n");
    await page.keyboard.type("一杯茶多少钱？");
    await page.keyboard.press("Shift+Enter");
    await page.keyboard.type("谢谢");
    await page.keyboard.press("Enter");
    await eventually(() => said(page).last().textContent()).toContain("一杯茶多少钱？\n谢谢");
    await page.locator(".chat-working").waitFor({ state: "detached" });
    await page.getByLabel("消息", { exact: true }).fill("مرحبا بالعالم 123");
    await page.keyboard.press("Enter");
    await eventually(() => said(page).count()).toBe(4);
    const third = said(page).nth(2).locator(".inert-block");
    await eventually(() => third.evaluate((element) => getComputedStyle(element).direction)).toBe("rtl");
    await page.locator(".chat-working").waitFor({ state: "detached" });
    await inBothThemes(page, "chat-zh-zoomed");
    // Everything can be reached with the tabulator.
    const reached = new Set<string>();
    for (let step = 0; step < 60; step++) {
      await page.keyboard.press("Tab");
      reached.add(await page.evaluate(() => document.activeElement?.textContent?.trim() ?? ""));
    }
    for (const name of ["编辑", "重新回答", "添加文件"]) expect([...reached]).toContain(name);
    expectNoProblems(page);
  },
  timeout,
);

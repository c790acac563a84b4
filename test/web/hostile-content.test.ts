import { mkdir, writeFile } from "node:fs/promises";
import { dirname } from "node:path";
import { AIMessage } from "@langchain/core/messages";
import { expect } from "vitest";
import { z } from "zod";
import { artifactsMiddleware } from "../../actors/middleware/artifacts.ts";
import { threadDataMiddleware } from "../../actors/middleware/thread-data.ts";
import { titleMiddleware } from "../../actors/middleware/title.ts";
import { resolveVirtualPath } from "../../actors/sandboxes/resolve-virtual-path.ts";
import { threadFolders } from "../../actors/sandboxes/thread-folders.ts";
import { defineTool } from "../../actors/tools/define-tool.ts";
import { ArtifactsPresented } from "../../events/artifacts.ts";
import { ScriptedModel } from "../actors/scripted-model.ts";
import { browserTest, expectNoProblems, openPage, takePicture } from "./browser.ts";
import { servePage } from "./served-page.ts";

const run = "window.parent.hacked = window.hacked = true";
/** Texts that would do something if any of them were taken for more than a text. */
const hostile = [
  `<script>${run}</script>`,
  `<img src=x onerror="${run}">`,
  `<svg onload="${run}"><foreignObject><iframe srcdoc="<script>${run}</script>"></iframe></foreignObject></svg>`,
  `<a href="javascript:${run}">click</a> [click](javascript:${run}) ![x](javascript:${run})`,
  `<style>*{display:none}</style><link rel=stylesheet href=//evil.example/x.css><meta http-equiv=refresh content="0;url=//evil.example">`,
  "\u001b[2J\u001b[31mred\u001b]8;;https://evil.example\u0007link\u001b]8;;\u0007",
  "invoice\u202Efdp.exe \u2066hidden\u2069 zero\u200bwidth null\u0000byte",
  "data:text/html,<script>alert(1)</script> https://example.com/%22onmouseover=alert(1) vbscript:x",
  "{{constructor.constructor('alert(1)')()}} %3Cscript%3E",
].join("\n");

/** Characters that turn the direction of a text, steer a terminal, or cannot be seen. */
const unseenCharacters = "[\\u202a-\\u202e\\u2066-\\u2069\\u200b\\u0000\\u001b]";

const tabs = ["state", "diff", "event", "seen", "causation", "machine", "branches"];

browserTest(
  "hostile content in titles, messages, tool output, names and files is shown as text everywhere and does nothing",
  async () => {
    const fetched = defineTool({
      name: "fetch_page",
      description: "Reads a page",
      schema: z.object({ url: z.string() }),
      run: () => hostile,
    });
    const call = new AIMessage({
      content: hostile,
      tool_calls: [{ id: "call-1", name: "fetch_page", args: { url: `javascript:${run}`, note: hostile } }],
    });
    const model = new ScriptedModel({ answers: [call, hostile] });
    const served = await servePage({
      agent: {
        preset: "none",
        model,
        tools: [fetched],
        middleware: [threadDataMiddleware(), artifactsMiddleware(), titleMiddleware({ enabled: false })],
      },
    });
    const thread = served.agent.thread("hostile");
    await thread.run(hostile).result;
    const path = "/mnt/user-data/outputs/<img src=x onerror=alert(1)>.svg";
    await thread.update({ title: hostile });
    await thread.record([ArtifactsPresented({ paths: [path, "/mnt/user-data/outputs/page.html"] })]);
    const folders = threadFolders({ folder: served.store.folder, threadId: "hostile" });
    for (const one of [path, "/mnt/user-data/outputs/page.html"]) {
      const { host = "" } = await resolveVirtualPath(folders, one);
      await mkdir(dirname(host), { recursive: true });
      await writeFile(host, `<svg xmlns="http://www.w3.org/2000/svg"><script>${run}</script></svg>`);
    }
    const { version: head } = await thread.info();

    const page = await openPage(`${served.url}/`);
    const opened: string[] = [];
    page.on("dialog", (dialog) => {
      opened.push(dialog.message());
      void dialog.dismiss();
    });
    const violations: string[] = [];
    await page.exposeFunction("noteViolation", (text: string) => violations.push(text));
    await page.addInitScript(() =>
      document.addEventListener("securitypolicyviolation", ({ violatedDirective, blockedURI }) =>
        (window as unknown as { noteViolation(text: string): void }).noteViolation(
          `${violatedDirective} ${blockedURI}`,
        ),
      ),
    );
    const look = async () => {
      await page.waitForTimeout(250);
      const found = await page.evaluate(
        (pattern) => ({
          hacked: "hacked" in window,
          title: document.title,
          links: [...document.querySelectorAll("a[href]")]
            .map((link) => (link as HTMLAnchorElement).href)
            .filter((href) => !/^https?:/.test(href) && !href.startsWith(window.location.origin)),
          foreign: document.querySelectorAll(
            "#root script, #root iframe, #root object, #root embed, #root style",
          ).length,
          handlers: document.querySelectorAll(
            "#root [onerror], #root [onload], #root [onclick], #root [srcdoc]",
          ).length,
          // Nothing may turn the direction of what is around it, or be there unseen.
          unseen: new RegExp(pattern, "u").test(document.querySelector("#root")?.textContent ?? ""),
        }),
        unseenCharacters,
      );
      expect(found).toMatchObject({ hacked: false, links: [], foreign: 0, handlers: 0, unseen: false });
      expect(found.title).not.toMatch(new RegExp(unseenCharacters, "u"));
    };
    for (const tab of tabs) {
      for (const at of [3, head]) {
        await page.goto(served.at({ thread: "hostile", tab, at }));
        await page.locator(".timeline-row").first().waitFor();
        await page.locator(".tab-content[data-state=active] > :not(.loading)").first().waitFor();
        await look();
      }
      await takePicture(page, `hostile-${tab}`);
    }
    for (const pane of ["chat", "audit"]) {
      await page.goto(served.at({ thread: "hostile", pane }));
      await page.getByRole("tab").first().waitFor();
      await look();
      await takePicture(page, `hostile-${pane}`);
    }
    await page.goto(served.at({ thread: "hostile", text: "<script>", search: "<img src=x" }));
    await look();
    expect(await page.locator("body").textContent()).toContain("<script>");
    expect(await page.locator(".hidden-character").count()).toBeGreaterThan(0);
    expect(opened).toEqual([]);
    expect(violations).toEqual([]);
    // Some of these views have nothing to show at some of these versions.
    expectNoProblems(page, /404/);

    // The files themselves come so that a browser does not run them.
    for (const one of [path, "/mnt/user-data/outputs/page.html"]) {
      const answer = await fetch(
        `${served.url}/log/v1/threads/hostile/artifacts?path=${encodeURIComponent(one)}`,
      );
      expect(answer.status).toBe(200);
      expect(answer.headers.get("content-type")).toBe("application/octet-stream");
      expect(answer.headers.get("content-security-policy")).toContain("sandbox");
    }
  },
  240_000,
);

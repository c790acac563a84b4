import { existsSync } from "node:fs";
import { mkdtemp, readFile, rm } from "node:fs/promises";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { chromium, type Page } from "playwright-core";
import { build } from "vite";
import { expect, test } from "vitest";
import { type Deferred, deferred } from "../../actors/deferred.ts";
import { humanApprovalMiddleware } from "../../actors/middleware/human-approval.ts";
import { ScriptedModel, type ScriptedModelOptions } from "../actors/scripted-model.ts";
import { add, callsTools } from "../actors/simple-tools.ts";
import { afterTest, serveAgent } from "./served-agents.ts";

const browserPath = ["/usr/bin/chromium", "/usr/bin/chromium-browser"].find((path) => existsSync(path));
const isRequired = process.env.THREADFOLD_REQUIRE_SYSTEM === "1";

/** The page as one script, served from an origin of its own. */
async function servePage(): Promise<string> {
  const outDir = await mkdtemp(join(tmpdir(), "threadfold-page-"));
  afterTest(() => rm(outDir, { recursive: true, force: true }));
  await build({
    configFile: false,
    logLevel: "error",
    // Vite compiles JSX for development under the test's NODE_ENV; React has to be the one for it.
    define: { "process.env.NODE_ENV": '"development"' },
    build: {
      outDir,
      minify: false,
      lib: {
        entry: fileURLToPath(new URL("use-stream-page/page.tsx", import.meta.url)),
        formats: ["es"],
        fileName: () => "page.js",
      },
    },
  });
  const script = await readFile(join(outDir, "page.js"));
  const server = createServer((request, answer) => {
    if (request.url?.startsWith("/page.js")) answer.setHeader("content-type", "text/javascript").end(script);
    else
      answer
        .setHeader("content-type", "text/html")
        .end('<div id="root"></div><script type="module" src="/page.js"></script>');
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  afterTest(
    () =>
      new Promise((resolve) => {
        server.closeAllConnections();
        server.close(() => resolve());
      }),
  );
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
}

async function openBrowser(): Promise<Page> {
  const browser = await chromium.launch({
    executablePath: browserPath ?? "chromium",
    args: ["--no-sandbox"],
  });
  afterTest(() => browser.close());
  return browser.newPage();
}

/** Says one word of each answer to "talk", and the rest when it may go on. */
class PausingModel extends ScriptedModel {
  constructor(script: ScriptedModelOptions, goOn: Promise<void>) {
    super({ ...script, streaming: true });
    const stream = this._streamResponseChunks.bind(this);
    this._streamResponseChunks = async function* (...given) {
      for await (const chunk of stream(...given)) {
        yield chunk;
        if (chunk.text === "one ") await goOn;
      }
    };
  }
}

const messages = (page: Page) => page.locator("#messages li").allTextContents();
const shows = (page: Page, texts: readonly string[]) =>
  expect.poll(() => messages(page), { timeout: 20_000 }).toEqual(texts);
const stands = (page: Page, id: string, text: string) =>
  expect.poll(() => page.locator(id).textContent(), { timeout: 20_000 }).toBe(text);

test.skipIf(!browserPath && !isRequired)(
  "useStream in a browser: send, edit, see words come, switch branches, stop, be asked and approve, reload and rejoin",
  async () => {
    const slow: Deferred<string>[] = [];
    let count = 0;
    const answers = (given: readonly { readonly text: string; getType(): string }[]) => {
      const last = given.at(-1);
      if (last?.getType() === "tool") return "sum is 3";
      if (last?.text === "talk") return "one two three";
      if (last?.text === "ask") return callsTools(["add", { a: 1, b: 2 }, `call-${given.length}`]);
      if (last?.text === "slow") {
        const answer = deferred<string>();
        slow.push(answer);
        return answer.promise;
      }
      count += 1;
      return `answer ${count}`;
    };
    const origin = await servePage();
    const goOn = deferred<void>();
    const { server } = await serveAgent({
      agent: {
        model: new PausingModel({ answers }, goOn.promise),
        tools: [add],
        middleware: [humanApprovalMiddleware({ interruptOn: { add: true } })],
      },
      server: { corsOrigins: [origin] },
    });
    const page = await openBrowser();
    const problems: string[] = [];
    page.on("pageerror", (error) => problems.push(error.message));
    await page.goto(`${origin}/?api=${encodeURIComponent(server.url)}`);
    await expect
      .poll(async () => [...problems, await page.locator("#send").count()], { timeout: 20_000 })
      .toEqual([1]);
    await page.locator("#send").dispatchEvent("click");
    await shows(page, ["hello", "answer 1"]);
    await stands(page, "#state", "idle");

    await page.locator("#edit").dispatchEvent("click");
    await shows(page, ["edited", "answer 2"]);
    await stands(page, "#branches", "2");
    await page.locator("#switch").dispatchEvent("click");
    await shows(page, ["hello", "answer 1"]);
    await page.reload();
    await shows(page, ["edited", "answer 2"]);

    await page.locator("#talk").dispatchEvent("click");
    await expect.poll(async () => (await messages(page)).at(-1), { timeout: 20_000 }).toBe("one ");
    await stands(page, "#state", "loading");
    goOn.resolve();
    await expect.poll(async () => (await messages(page)).at(-1), { timeout: 20_000 }).toBe("one two three");
    await stands(page, "#state", "idle");

    await page.locator("#slow").dispatchEvent("click");
    await expect.poll(() => slow.length, { timeout: 20_000 }).toBe(1);
    await page.locator("#stop").dispatchEvent("click");
    await stands(page, "#state", "idle");

    await page.locator("#ask").dispatchEvent("click");
    await stands(page, "#interrupt", "asked");
    await page.locator("#approve").dispatchEvent("click");
    await expect.poll(async () => (await messages(page)).at(-1), { timeout: 20_000 }).toBe("sum is 3");
    await stands(page, "#interrupt", "none");

    await page.locator("#slow").dispatchEvent("click");
    await expect.poll(() => slow.length, { timeout: 20_000 }).toBe(2);
    await page.reload();
    await stands(page, "#state", "loading");
    slow[1]?.resolve("slow answer");
    await expect.poll(async () => (await messages(page)).at(-1), { timeout: 20_000 }).toBe("slow answer");
    await stands(page, "#state", "idle");
  },
  180_000,
);

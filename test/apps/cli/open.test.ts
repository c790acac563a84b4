import { chmod, cp, readdir, readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { expect, test, vi } from "vitest";
import { cli, emptyFolder } from "./run-cli.ts";

vi.setConfig({ testTimeout: 120_000 });

const exported = fileURLToPath(new URL("../../histories/0.1.0/rewind.ndjson", import.meta.url));

/** Runs a command that serves until it is stopped, and asks its server something meanwhile. */
async function whileServing<Answer>(
  args: readonly string[],
  cwd: string,
  ask: (url: URL) => Promise<Answer>,
  env: Readonly<Record<string, string>> = {},
) {
  let answer: Promise<Answer> | undefined;
  const result = await cli([...args, "--json"], {
    cwd,
    env: { BROWSER: "none", ...env },
    onStdout(text, child) {
      if (answer || !text.includes("}")) return;
      const { url } = JSON.parse(text) as { url: string };
      answer = ask(new URL(url)).finally(() => child.kill("SIGTERM"));
    },
  });
  return { result, answer: await answer };
}

test("an export is served as it is: its threads and states can be read, nothing can be changed or written", async () => {
  const cwd = await emptyFolder();
  const file = join(cwd, "thread.ndjson");
  await cp(exported, file);
  const { result, answer } = await whileServing(["open", file, "--port", "0"], cwd, async (url) => {
    const thread = url.searchParams.get("thread") ?? "";
    const get = async (path: string) =>
      (await fetch(`${url.origin}/log/v1/${path}`)).json() as Promise<unknown>;
    const refused = await fetch(`${url.origin}/log/v1/threads/${thread}/rewind`, {
      method: "POST",
      headers: { "content-type": "application/json" },
      body: JSON.stringify({ to: 1 }),
    });
    return {
      access: await get("access"),
      state: await get(`threads/${thread}/state?at=head`),
      verified: await fetch(`${url.origin}/log/v1/threads/${thread}/verify`, { method: "POST" }),
      refused: [refused.status, await refused.text()],
    };
  });
  expect(result).toMatchObject({ code: 0, stderr: "" });
  expect(answer?.access).toMatchObject({ readOnly: true });
  expect(answer?.state).toMatchObject({ state: { messages: expect.any(Array) } });
  expect(answer?.verified.status).toBe(200);
  expect(answer?.refused[0]).toBe(403);
  expect(answer?.refused[1]).toContain("for reading only");
  expect(await readdir(cwd)).toEqual(["thread.ndjson"]);
  expect(await readFile(file, "utf8")).toBe(await readFile(exported, "utf8"));
});

test("a file that is not there or is no export is one clear error", async () => {
  const cwd = await emptyFolder();
  expect(await cli(["open", "nowhere.ndjson"], { cwd })).toMatchObject({ code: 3 });
  const broken = await cli(["open", fileURLToPath(import.meta.url)], { cwd });
  expect(broken.code).not.toBe(0);
  expect(broken.stderr).not.toContain("    at ");
});

test("serve --open shows the page in the browser of BROWSER", async () => {
  const cwd = await emptyFolder();
  const browser = join(cwd, "browser.sh");
  await writeFile(browser, `#!/bin/sh\nprintf %s "$1" > "${cwd}/opened"\n`);
  await chmod(browser, 0o755);
  const { answer } = await whileServing(
    ["serve", "--open", "--port", "0"],
    cwd,
    async (url) => {
      await expect
        .poll(() => readFile(join(cwd, "opened"), "utf8").catch(() => ""), { timeout: 10_000 })
        .not.toBe("");
      return [url.href, new URL(await readFile(join(cwd, "opened"), "utf8")).href];
    },
    { BROWSER: browser },
  );
  expect(answer?.[1]).toBe(answer?.[0]);
});

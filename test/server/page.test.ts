import { mkdir, mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, test } from "vitest";
import { hashToken } from "../../apps/server/index.ts";
import { afterTest, serveAgent } from "./served-agents.ts";

async function pageFolder(): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), "page-"));
  afterTest(() => rm(folder, { recursive: true, force: true }));
  await mkdir(join(folder, "assets"));
  await writeFile(join(folder, "index.html"), "<!doctype html><title>page</title>");
  await writeFile(join(folder, "assets", "main-1a2b3c.js"), "console.log(1);\n".repeat(200));
  await writeFile(join(folder, "secret.txt"), "not of the page");
  return folder;
}

test("the page comes without a token, under a policy that lets it run and reach nothing but its own", async () => {
  const tokens = [{ name: "ada", sha256: hashToken("token"), scope: "read" as const }];
  const { request } = await serveAgent({ server: { pageFolder: await pageFolder(), tokens } });
  const page = await request("/");
  expect(page.status).toBe(200);
  expect(await page.text()).toContain("<title>page</title>");
  expect(page.headers.get("content-type")).toBe("text/html; charset=utf-8");
  expect(page.headers.get("x-content-type-options")).toBe("nosniff");
  expect(page.headers.get("cache-control")).toBe("no-cache");
  const policy = page.headers.get("content-security-policy") ?? "";
  for (const rule of [
    "default-src 'none'",
    "script-src 'self'",
    "style-src 'self'",
    "connect-src 'self'",
    "base-uri 'none'",
    "form-action 'none'",
    "frame-ancestors 'none'",
  ]) {
    expect(policy.split("; ")).toContain(rule);
  }
  expect(policy).not.toMatch(/unsafe|\*|https?:/);
  expect((await request("/log/v1/threads")).status).toBe(401);
});

test("assets are compressed and kept for ever, and nothing beside them is served", async () => {
  const { request } = await serveAgent({ server: { pageFolder: await pageFolder() } });
  for (const coding of ["br", "gzip"]) {
    const asset = await request("/assets/main-1a2b3c.js", { headers: { "accept-encoding": coding } });
    expect(asset.headers.get("content-encoding")).toBe(coding);
    expect(asset.headers.get("cache-control")).toBe("public, max-age=31536000, immutable");
    expect(asset.headers.get("content-type")).toContain("text/javascript");
    expect(await asset.text()).toBe("console.log(1);\n".repeat(200));
  }
  for (const path of [
    "/assets/..%2fsecret.txt",
    "/assets/%2e%2e/secret.txt",
    "/secret.txt",
    "/assets/other.js",
  ]) {
    expect([path, (await request(path)).status]).toEqual([path, 404]);
  }
});

test("pages of other sites and names that somebody let point here get no page", async () => {
  const { request } = await serveAgent({ server: { pageFolder: await pageFolder() } });
  expect((await request("/", { headers: { origin: "https://evil.example" } })).status).toBe(403);
});

test("where the page was not built the root says so and the API is there", async () => {
  const empty = await mkdtemp(join(tmpdir(), "page-"));
  afterTest(() => rm(empty, { recursive: true, force: true }));
  const { request } = await serveAgent({ server: { pageFolder: empty } });
  const answer = await request("/");
  expect(answer.status).toBe(404);
  expect(await answer.text()).toContain("npm run build");
  expect((await request("/ok")).status).toBe(200);
});

test("a read-only server refuses every change whatever the token says, and tells so beforehand", async () => {
  const { request } = await serveAgent({ server: { readOnly: true } });
  expect(await (await request("/log/v1/access")).json()).toMatchObject({
    name: "local",
    scope: "admin",
    readOnly: true,
    agents: ["agent"],
  });
  for (const [path, method] of [
    ["/threads", "POST"],
    ["/runs/wait", "POST"],
    ["/threads/t", "PATCH"],
    ["/threads/t", "DELETE"],
    ["/log/v1/threads/t/fork", "POST"],
  ] as const) {
    expect([path, (await request(path, { method, body: method === "DELETE" ? null : "{}" })).status]).toEqual(
      [path, 403],
    );
  }
  expect((await request("/threads/search", { json: {} })).status).toBe(200);
});

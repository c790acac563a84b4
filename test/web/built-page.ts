import { mkdtempSync } from "node:fs";
import { rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { build } from "vite";

let built: Promise<string> | undefined;

/** Folder of the page as users get it, built once for each test file. */
export function builtPage(): Promise<string> {
  built ??= buildPage();
  return built;
}

async function buildPage(): Promise<string> {
  const outDir = mkdtempSync(join(tmpdir(), "threadfold-web-"));
  process.once("exit", () => void rm(outDir, { recursive: true, force: true }));
  const root = fileURLToPath(new URL("../../apps/web", import.meta.url));
  // Under vitest's NODE_ENV the page would be built for development.
  const before = process.env.NODE_ENV;
  process.env.NODE_ENV = "production";
  try {
    await build({
      root,
      configFile: join(root, "vite.config.ts"),
      mode: "production",
      logLevel: "error",
      build: { outDir, emptyOutDir: true },
    });
  } finally {
    process.env.NODE_ENV = before;
  }
  return outDir;
}

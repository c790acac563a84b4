import { readFile } from "node:fs/promises";
import { createRequire } from "node:module";
import type { AxeResults, RunOptions } from "axe-core";
import type { Page } from "playwright-core";
import { expect } from "vitest";

const source = createRequire(import.meta.url).resolve("axe-core/axe.min.js");

interface WindowWithAxe {
  readonly axe: { run(options: RunOptions): Promise<AxeResults> };
}

/** Expects axe-core to find nothing on the page as it is now. */
export async function expectAccessible(page: Page): Promise<void> {
  // Evaluated by the debugger, so the page's own policy stays as strict as it is.
  const isLoaded = await page.evaluate(() => "axe" in window);
  if (!isLoaded) await page.evaluate(await readFile(source, "utf8"));
  const { violations } = await page.evaluate(async () =>
    (window as unknown as WindowWithAxe).axe.run({ resultTypes: ["violations"] }),
  );
  expect(
    violations.map(({ id, nodes }) => [id, ...nodes.slice(0, 3).map(({ html }) => html.slice(0, 200))]),
  ).toEqual([]);
}

import type { Page } from "playwright-core";

/** Shows a version through the box of the time slider, and waits until the state of it is there. */
export async function showVersion(page: Page, version: number): Promise<void> {
  const box = page.getByRole("textbox", { name: "Go to version" });
  await box.fill(String(version));
  await box.press("Enter");
  await page.locator(`.state-tab[data-version="${version}"][aria-busy="false"]`).waitFor();
}

/** Opens everything in the State tab that is folded or cut. */
async function openAll(page: Page): Promise<void> {
  for (let round = 0; round < 50; round++) {
    const opened = await page.evaluate(() => {
      const tab = document.querySelector(".state-tab");
      const folded = tab?.querySelectorAll<HTMLElement>(
        ".json-expand, .value-toggle[aria-expanded=false], .field-toggle[aria-expanded=false], .state-value > .button.small, .value-body > .button.small",
      );
      for (const element of folded ?? []) element.click();
      return folded?.length ?? 0;
    });
    if (opened === 0) return;
    await page.waitForTimeout(15);
  }
}

/** The state that the State tab shows, read from what stands on the page. */
export async function readShownState(page: Page): Promise<Record<string, unknown>> {
  await openAll(page);
  return page.evaluate(() => {
    const child = (element: Element, selector: string) =>
      [...element.children].find((one) => one.matches(selector));
    const treeItem = (item: Element): unknown => {
      const group = child(item, "ul");
      const bracket = child(item, ".json-punctuation")?.textContent;
      if (group || bracket === "{" || bracket === "[") {
        const items = [...(group?.children ?? [])];
        if (bracket === "[") return items.map(treeItem);
        return Object.fromEntries(
          items.map((one) => [child(one, ".json-label")?.textContent?.slice(0, -1), treeItem(one)]),
        );
      }
      const text = child(item, ".json-string")?.textContent;
      if (typeof text === "string") return text.slice(1, -1);
      const literal = child(item, ".json-literal, .json-null")?.textContent ?? "null";
      return JSON.parse(literal) as unknown;
    };
    const value = (body: Element): unknown => {
      const list = child(body, ".value-children");
      if (list) {
        const entries = [...list.children].map((one) => {
          const key = one.querySelector(".json-label")?.textContent ?? "";
          const inner = child(one, ".value-body");
          return [key, inner ? value(inner) : undefined] as const;
        });
        const isArray = list.getAttribute("data-kind") === "array";
        return isArray ? entries.map(([, one]) => one) : Object.fromEntries(entries);
      }
      const tree = child(body, ".json-tree");
      const root = tree?.querySelector("[role=treeitem]");
      if (root) return treeItem(root);
      const text = child(body, ".inert-block");
      if (text) return text.textContent;
      return JSON.parse(child(body, "code")?.textContent ?? "null") as unknown;
    };
    const empties: Record<string, unknown> = { object: {}, array: [], string: "", null: null };
    const fields = [...document.querySelectorAll(".state-tab [data-field]")].map((element) => {
      const kind = element.getAttribute("data-empty");
      const body = element.querySelector(".state-value");
      const shown = kind === null ? (body ? value(body) : undefined) : empties[kind];
      return [element.getAttribute("data-field") ?? "", shown];
    });
    return Object.fromEntries(fields);
  });
}

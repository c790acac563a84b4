import { test as propertyTest } from "@fast-check/vitest";
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { type Outline, outlineAt } from "../../projections/json-outline.ts";

const escaped = (key: string) => key.replaceAll("~", "~0").replaceAll("/", "~1");

/** Reads a value as a page does: what is short as it came, everything else page by page. */
function readWhole(root: unknown, pointer: string, limit: number): unknown {
  const pages: Outline[] = [];
  for (let offset: number | undefined = 0; offset !== undefined; offset = pages.at(-1)?.next) {
    const page = outlineAt(root, pointer, { offset, limit });
    if (!page) throw new Error(`nothing at ${pointer}`);
    pages.push(page);
  }
  const [first] = pages;
  if (!first || first.value !== undefined) return first?.value;
  if (first.kind === "string") return pages.map(({ text }) => text).join("");
  const entries = pages.flatMap(({ children = [] }) =>
    children.map((child) => {
      const value =
        child.value !== undefined ? child.value : readWhole(root, `${pointer}/${escaped(child.key)}`, limit);
      return [child.key, value] as const;
    }),
  );
  return first.kind === "array" ? entries.map(([, value]) => value) : Object.fromEntries(entries);
}

const values = fc.letrec((tie) => ({
  value: fc.oneof(
    { maxDepth: 3 },
    fc.jsonValue({ maxDepth: 1 }),
    fc.string({ minLength: 500, maxLength: 3_000 }),
    fc.array(tie("value"), { maxLength: 8 }),
    fc.dictionary(fc.constantFrom("a", "b/c", "~d", "", "__proto"), tie("value"), { maxKeys: 4 }),
  ),
})).value;

describe("outlines of values", () => {
  propertyTest.prop([values, fc.integer({ min: 1, max: 5 })])(
    "page by page they give the whole value",
    (value, limit) => {
      expect(readWhole(value, "", limit)).toEqual(value);
    },
  );

  test("a page of a large list is small, whatever its items hold", () => {
    const list = Array.from({ length: 10_000 }, () => ({
      text: "x".repeat(40_000),
      list: [["y".repeat(9_000)]],
    }));
    const page = outlineAt({ list }, "", { offset: 0, limit: 50 });
    expect(JSON.stringify(page).length).toBeLessThan(50_000);
    expect(page?.children?.[0]).toMatchObject({ kind: "array", size: 10_000, next: 20 });
  });

  test("nothing stands where a pointer leads nowhere, or into what objects inherit", () => {
    for (const pointer of ["/b", "/a/0", "/constructor", "/__proto__", "/a/length"]) {
      expect(outlineAt({ a: "text" }, pointer, { offset: 0, limit: 10 })).toBeUndefined();
    }
  });
});

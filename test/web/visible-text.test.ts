import { test as propertyTest } from "@fast-check/vitest";
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { safeHref, textPieces, visibleJson, visibleText } from "../../apps/web/src/text/visible-text.ts";

/** Characters that turn the direction of a text, steer a terminal, or cannot be seen. */
const hidden = /[\p{Cc}\u00ad\u061c\u200b\u200e\u200f\u2028-\u202e\u2060-\u206f\ufeff]/u;
const texts = fc
  .array(
    fc.oneof(
      fc.string({ unit: "grapheme" }),
      fc.constantFrom(
        "\u202e",
        "\u2066",
        "\u200b",
        "\u0000",
        "\u001b[31m",
        "\u001b]0;t\u0007",
        "\r",
        "\n",
        "\t",
        "\ufeff",
      ),
      fc.constantFrom(
        "https://example.com/a?b=c",
        "http://x.y",
        "javascript:alert(1)",
        "（https://例え.jp）。",
      ),
    ),
    { maxLength: 12 },
  )
  .map((parts) => parts.join(""));

describe("texts of a log on the page", () => {
  propertyTest.prop([texts, fc.boolean()])("nothing is lost and nothing acts unseen", (text, links) => {
    const pieces = textPieces(text, { links });
    expect(pieces.map((piece) => piece.text).join("")).toBe(text);
    for (const piece of pieces) {
      const shown = piece.kind === "hidden" ? piece.label : piece.text;
      expect(shown.replace(/\r?\n|\t/g, "")).not.toMatch(hidden);
      if (piece.kind === "link") expect(new URL(piece.href).protocol).toMatch(/^https?:$/);
    }
    expect(visibleText(text).replace(/\r?\n|\t/g, "")).not.toMatch(hidden);
  });

  test("an override in a file name is named where it stands", () => {
    expect(visibleText("invoice\u202efdp.exe")).toBe("invoice⟨U+202E⟩fdp.exe");
    expect(visibleJson({ "a\u200b": ["\u001b[2J"] })).toEqual({ "a⟨U+200B⟩": ["⟨ESC[2J⟩"] });
  });

  test("emoji, scripts that join and line breaks stay as they are", () => {
    for (const text of ["👩‍👩‍👧", "नमस्ते", "می‌خواهم", "line\r\nbreak\ttab", "❤️"]) {
      expect(visibleText(text)).toBe(text);
    }
  });

  test("only http and https become links, without the punctuation that follows", () => {
    expect(textPieces("see https://a.example/x, or not", { links: true })[1]).toEqual({
      kind: "link",
      text: "https://a.example/x",
      href: "https://a.example/x",
    });
    for (const text of [
      "javascript:alert(1)",
      "data:text/html,x",
      " https://a.example",
      "//a.example",
      "file:///etc",
    ]) {
      expect(safeHref(text)).toBeUndefined();
    }
  });
});

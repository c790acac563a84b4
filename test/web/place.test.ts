import { test as propertyTest } from "@fast-check/vitest";
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import {
  changedPlace,
  formatPlace,
  placeKeys,
  readPlace,
  versionOf,
} from "../../apps/web/src/place/place.ts";

const places = fc
  .dictionary(fc.constantFrom(...placeKeys), fc.string({ unit: "grapheme", minLength: 1, maxLength: 40 }))
  .map((place) => ({ ...place }));

describe("the address of the page", () => {
  propertyTest.prop([places])("says everything that it was made of", (place) => {
    expect(readPlace(formatPlace(place))).toEqual(place);
  });

  test("another thread begins without the old one's version and filters, but keeps the tab", () => {
    const place = { thread: "a", at: "12", tab: "diff", run: "r", text: "x", search: "s" };
    expect(changedPlace(place, { thread: "b" })).toEqual({ thread: "b", tab: "diff", search: "s" });
    expect(changedPlace(place, { thread: "b", at: "3" })).toMatchObject({ thread: "b", at: "3" });
    expect(changedPlace(place, { at: undefined })).not.toHaveProperty("at");
  });

  test("what is no version is the head", () => {
    expect(versionOf({ at: "41" })).toBe(41);
    for (const at of ["-1", "1.5", "head", "1e3", "9".repeat(20)]) expect(versionOf({ at })).toBeUndefined();
  });
});

import { describe, expect, test } from "vitest";
import { ImagesViewed } from "../../events/images.ts";
import { viewedImages } from "../../reducers/images.ts";
import { composeReducers } from "../../reducers/thread-state.ts";

const reducer = composeReducers([{ source: "test", reducers: [viewedImages] }]);
const png = { mime_type: "image/png" };
const hostile = JSON.parse('{"__proto__":{"mime_type":"image/png"},"constructor":{"mime_type":"image/gif"}}');

describe("viewed images", () => {
  test("keep hostile paths as plain keys", () => {
    const viewed = { type: "ImagesViewed", data: { images: hostile }, version: 1 };
    const after = { type: "ImagesViewed", data: { images: { "/a.png": png } }, version: 2 };
    for (const state of [
      reducer.fold([viewed, after]),
      [viewed, after].reduce(reducer.apply, reducer.initial),
    ]) {
      const images = state.viewed_images as object;
      expect(Object.keys(images)).toEqual(["__proto__", "constructor", "/a.png"]);
      expect(Object.getPrototypeOf(images)).toBe(Object.prototype);
    }
    expect(({} as { mime_type?: string }).mime_type).toBeUndefined();
  });

  test("are not cleared by an empty map, as an update or as an event", () => {
    expect(viewedImages.fromUpdate?.({}, { "/a.png": png })).toEqual([]);
    const state = reducer.fold([{ type: "ImagesViewed", data: { images: { "/a.png": png } }, version: 1 }]);
    expect(reducer.apply(state, { type: "ImagesViewed", data: { images: {} }, version: 2 })).toBe(state);
  });

  test("become an event with only the entries that changed", () => {
    const drafts = viewedImages.fromUpdate?.({ "/a.png": png, "/b.png": png }, { "/a.png": png });
    expect(drafts).toEqual([ImagesViewed({ images: { "/b.png": png } })]);
  });
});

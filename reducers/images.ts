import type { DataOf } from "../events/define-event.ts";
import { ImagesViewed, type ViewedImage } from "../events/images.ts";
import { type Accumulator, defineReducer } from "./define-reducer.ts";
import { sameJson } from "./same-json.ts";

type Images = { readonly [path: string]: ViewedImage };

/** Entries of `update` that are new or differ. Entries, because a path may be called `__proto__`. */
function changedEntries(current: Images, update: Images): [string, ViewedImage][] {
  return Object.entries(update).filter(
    ([path, image]) => !Object.hasOwn(current, path) || !sameJson(current[path], image),
  );
}

function merge(current: Images, update: Images): Images {
  const changed = changedEntries(current, update);
  return changed.length === 0 ? current : Object.fromEntries([...Object.entries(current), ...changed]);
}

function accumulate(initial: Images): Accumulator<Images> {
  let images: Map<string, ViewedImage> | undefined;
  return {
    apply(event) {
      if (event.type === "ImagesCleared") images = new Map();
      if (event.type !== "ImagesViewed") return;
      images ??= new Map(Object.entries(initial));
      const viewed = (event.data as DataOf<typeof ImagesViewed>).images;
      for (const [path, image] of Object.entries(viewed)) images.set(path, image);
    },
    value() {
      if (images === undefined) return initial;
      const value: Images = Object.fromEntries(images);
      return sameJson(value, initial) ? initial : value;
    },
  };
}

/** Viewed images by virtual path; the newest entry of a path wins. An empty map changes nothing, only the event clears. */
export const viewedImages = defineReducer<Images>({
  field: "viewed_images",
  initial: {},
  algebra: "keyed-merge",
  on: {
    ImagesViewed: (current, data) => merge(current, data.images),
    ImagesCleared: (current) => (Object.keys(current).length === 0 ? current : {}),
  },
  accumulate,
  merge: (current, update) => (update == null ? current : merge(current, update as Images)),
  fromUpdate(update, current) {
    if (update == null) return [];
    if (typeof update !== "object") return [ImagesViewed({ images: update as Images })];
    const changed = changedEntries(current, update as Images);
    return changed.length === 0 ? [] : [ImagesViewed({ images: Object.fromEntries(changed) })];
  },
});

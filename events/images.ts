import type { z } from "zod";
import { defineEvent } from "./define-event.ts";
import { lazySchema } from "./zod.ts";

const viewedImageSchema = lazySchema((z) =>
  z.looseObject({
    mime_type: z.string(),
    /** Bytes. */
    size: z.number().int().nonnegative().optional(),
    /** Key of the bytes in the blob store. */
    sha256: z.string().optional(),
  }),
);
export type ViewedImage = z.infer<ReturnType<typeof viewedImageSchema>>;

/** Images were viewed: virtual path to type, size and digest. The bytes are in the blob store. */
export const ImagesViewed = defineEvent({
  type: "ImagesViewed",
  schema: (z) => z.object({ images: z.record(z.string(), viewedImageSchema()) }),
  content: ["images"],
});

/** The model has seen the viewed images. */
export const ImagesCleared = defineEvent({ type: "ImagesCleared", schema: (z) => z.object({}) });

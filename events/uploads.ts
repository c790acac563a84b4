import type { z } from "zod";
import { defineEvent } from "./define-event.ts";
import { lazySchema } from "./zod.ts";

const uploadedFileSchema = lazySchema((z) =>
  z.looseObject({
    filename: z.string(),
    /** Bytes. */
    size: z.number().int().nonnegative(),
    /** Virtual path, `/mnt/user-data/uploads/<name>`. */
    path: z.string(),
    extension: z.string().optional(),
  }),
);
export type UploadedFile = z.infer<ReturnType<typeof uploadedFileSchema>>;

/** The files of the current message; replaces those of the message before. */
export const FilesUploaded = defineEvent({
  type: "FilesUploaded",
  schema: (z) => z.object({ files: z.array(uploadedFileSchema()) }),
  content: ["files"],
});

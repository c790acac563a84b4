import { z } from "zod";
import { defineEvent } from "./define-event.ts";

const uploadedFileSchema = z.looseObject({
  filename: z.string(),
  /** Bytes. */
  size: z.number().int().nonnegative(),
  /** Virtual path, `/mnt/user-data/uploads/<name>`. */
  path: z.string(),
  extension: z.string().optional(),
});
export type UploadedFile = z.infer<typeof uploadedFileSchema>;

/** The files of the current message; replaces those of the message before. */
export const FilesUploaded = defineEvent({
  type: "FilesUploaded",
  schema: z.object({ files: z.array(uploadedFileSchema) }),
  content: ["files"],
});

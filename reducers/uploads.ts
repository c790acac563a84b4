import { FilesUploaded, type UploadedFile } from "../events/uploads.ts";
import { defineReducer } from "./define-reducer.ts";
import { keepWhenSame, sameJson } from "./same-json.ts";

/** The files of the current message. Those of the message before are gone. */
export const uploadedFiles = defineReducer<readonly UploadedFile[] | undefined>({
  field: "uploaded_files",
  initial: undefined,
  algebra: "replace",
  on: { FilesUploaded: (current, data) => keepWhenSame(current, data.files) },
  fromUpdate: (update, current) =>
    update == null || sameJson(update, current) ? [] : [FilesUploaded({ files: update as UploadedFile[] })],
});

import { extname } from "node:path";
import { z } from "zod";
import { resolveBlobs } from "../../events/blobs/blob-content.ts";
import type { Message } from "../../events/message.ts";
import { MessagesReplaced } from "../../events/messages.ts";
import { FilesUploaded, type UploadedFile } from "../../events/uploads.ts";
import { sameJson } from "../../reducers/same-json.ts";
import { uploadedFiles } from "../../reducers/uploads.ts";
import { toStored } from "../messages/to-stored.ts";
import { mintId } from "../mint-id.ts";
import { type FoldersFor, foldersOf } from "../sandboxes/thread-folders.ts";
import { isUploadName, uploadNamed } from "../sandboxes/uploaded-files.ts";
import { virtualUploads } from "../sandboxes/virtual-path.ts";
import { listUploadedFilesTool } from "../tools/list-uploaded-files.ts";
import { createMiddleware, type Middleware } from "./define-middleware.ts";
import { messageType, textOfContent, typedText } from "./message-text.ts";
import { uploadsBlock } from "./uploads-block.ts";

export interface UploadsOptions {
  /** The thread's host folders. Default: below the store's folder. */
  readonly folders?: FoldersFor;
}

/**
 * Files that a user sends with a message (`additional_kwargs.files`): those of the newest message become
 * `uploaded_files`, and a block in front of its text tells the model about them. What the user typed stays in
 * `original_user_content`. Brings the tool `list_uploaded_files` for the files of earlier messages.
 *
 * @example
 * createAgent({ model, tools: fileTools(), middleware: [threadDataMiddleware(), uploadsMiddleware()] });
 */
export function uploadsMiddleware(options: UploadsOptions = {}): Middleware {
  const { folders = foldersOf } = options;
  return createMiddleware({
    name: "uploads",
    external: true,
    contextSchema: z.object({ user_id: z.string().optional() }),
    events: [FilesUploaded],
    reducers: [uploadedFiles],
    tools: [listUploadedFilesTool({ folders })],

    async beforeAgent(state, runtime) {
      const { uploads_path } = folders(runtime, state);
      const last = state.messages?.at(-1);
      const isUsers = last !== undefined && messageType(last) === "human";
      const files = isUsers ? await acceptedFiles(last.additional_kwargs?.files, uploads_path) : [];
      const changed = sameJson(state.uploaded_files, files) ? [] : [FilesUploaded({ files })];
      if (!isUsers || files.length === 0) return changed;
      // A long text of the user's is in the blob store by now; with the block in front it becomes another text.
      const stored = await resolveBlobs(toStored(last, mintId), runtime.blobs);
      const message = withBlock(stored, await uploadsBlock(files, uploads_path));
      return sameJson(stored, message) ? changed : [...changed, MessagesReplaced({ messages: [message] })];
    },
  });
}

/** Files of a message that pass the checks, described by what the log may hold. */
async function acceptedFiles(entries: unknown, uploadsPath: string): Promise<UploadedFile[]> {
  if (!Array.isArray(entries)) return [];
  const accepted = await Promise.all(entries.map((entry: unknown) => acceptedFile(entry, uploadsPath)));
  return accepted.filter((file) => file !== undefined);
}

async function acceptedFile(entry: unknown, uploadsPath: string): Promise<UploadedFile | undefined> {
  if (typeof entry !== "object" || entry === null) return undefined;
  const { filename, size } = entry as { filename?: unknown; size?: unknown };
  if (!isUploadName(filename) || !(await uploadNamed(uploadsPath, filename))) return undefined;
  const bytes = Number(size ?? 0);
  return {
    filename,
    size: Number.isSafeInteger(Math.trunc(bytes)) && bytes > 0 ? Math.trunc(bytes) : 0,
    path: `${virtualUploads}/${filename}`,
    extension: extname(filename),
  };
}

/** The message with one block in front, however often it is made. */
function withBlock(message: Message, block: string): Message {
  const before = message.additional_kwargs?.original_user_content;
  const original = typeof before === "string" ? before : textOfContent(message.content);
  const additional_kwargs = { ...message.additional_kwargs, original_user_content: original };
  const { content } = message;
  if (typeof content === "string") {
    const text = typedText({ content });
    return { ...message, content: `${block}\n\n${text}`, additional_kwargs };
  }
  const [first, ...rest] = content;
  const hasBlock =
    typeof first === "object" && typeof first.text === "string" && /^<current_uploads>/.test(first.text);
  return {
    ...message,
    content: [{ type: "text", text: block }, ...(hasBlock ? rest : content)],
    additional_kwargs,
  };
}

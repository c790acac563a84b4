import { constants } from "node:fs";
import { open } from "node:fs/promises";
import { z } from "zod";
import { ImagesViewed } from "../../events/images.ts";
import { resolveVirtualPath } from "../sandboxes/resolve-virtual-path.ts";
import { PathNotAllowedError, type ThreadFolders } from "../sandboxes/sandbox.ts";
import { type FoldersFor, foldersOf } from "../sandboxes/thread-folders.ts";
import { defineTool } from "./define-tool.ts";
import { imageExtensions, imageTypeOfBytes, imageTypeOfName } from "./image-type.ts";

export const viewImageName = "view_image";

/** Largest image, in bytes: this many are still allowed. */
export const maxImageBytes = 20 * 1024 * 1024;

export interface ViewImageOptions {
  /** Largest image in bytes. Default 20 MiB. */
  readonly maxBytes?: number;
  /** Folders of the running thread. Default: those below the store's folder. */
  readonly folders?: FoldersFor;
}

/** An image cannot be shown to the model. The message holds the virtual path only. */
export class ImageNotViewableError extends Error {
  override readonly name = "ImageNotViewableError";
  constructor(
    readonly path: string,
    reason: string,
  ) {
    super(`The image "${path}" cannot be viewed: ${reason}.`);
  }
}

interface CheckedImage {
  readonly path: string;
  readonly mimeType: string;
  readonly bytes: Uint8Array;
}

/** What a file error means, without its text: that holds host paths. */
function reasonOf(error: unknown): string {
  const { code } = error as { code?: unknown };
  if (code === "ENOENT" || code === "ENOTDIR")
    return "there is no such file. List the folder to see what is there";
  if (code === "EISDIR") return "it is a folder";
  if (code === "EACCES" || code === "EPERM") return "it may not be read";
  return `it could not be read (${typeof code === "string" ? code : "unknown error"})`;
}

async function readChecked(
  path: string,
  host: string,
  maxBytes: number,
): Promise<Omit<CheckedImage, "path">> {
  const refuse = (reason: string) => new ImageNotViewableError(path, reason);
  // Links were followed before; one that appears since is not, and a pipe does not block.
  const file = await open(host, constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK);
  try {
    const stats = await file.stat();
    if (!stats.isFile()) throw refuse(stats.isDirectory() ? "it is a folder" : "it is not a plain file");
    const claimed = imageTypeOfName(path);
    if (!claimed) throw refuse(`its name must end in one of ${imageExtensions.join(", ")}`);
    if (stats.size > maxBytes) throw refuse(`it has ${stats.size} bytes, the limit is ${maxBytes}`);
    const bytes = new Uint8Array(await file.readFile());
    if (bytes.length !== stats.size) throw refuse("it changed while it was read. Try again");
    const actual = imageTypeOfBytes(bytes);
    if (!actual) throw refuse("its content is none of JPEG, PNG, WebP and GIF");
    if (actual !== claimed) throw refuse(`its name says ${claimed}, its content is ${actual}`);
    return { mimeType: actual, bytes };
  } finally {
    await file.close();
  }
}

async function checkImage(path: string, folders: ThreadFolders, maxBytes: number): Promise<CheckedImage> {
  const resolved = await resolveVirtualPath(folders, path);
  if (resolved.host === undefined) throw new ImageNotViewableError(path, "it is a folder");
  try {
    return { path: resolved.virtual, ...(await readChecked(resolved.virtual, resolved.host, maxBytes)) };
  } catch (error) {
    if (error instanceof ImageNotViewableError) throw error;
    throw new ImageNotViewableError(resolved.virtual, reasonOf(error));
  }
}

/**
 * The tool with which a model looks at an image file of its thread. The bytes go to the blob store, the state gets
 * type, size and digest, and the next request shows the image.
 *
 * @example
 * createAgent({ model, middleware: [viewImagesMiddleware({ vision: true })] }) // brings this tool
 */
export function viewImageTool(options: ViewImageOptions = {}) {
  const { maxBytes = maxImageBytes, folders = foldersOf } = options;
  return defineTool({
    name: viewImageName,
    description:
      "Shows you an image file: JPEG, PNG, WebP or GIF below /mnt/user-data/workspace, /mnt/user-data/uploads or " +
      "/mnt/user-data/outputs. You see it in the next message, once.",
    schema: z.object({
      image_path: z.string().min(1).describe("Absolute path of the image, /mnt/user-data/…"),
    }),
    idempotent: true,
    async run({ image_path }, runtime) {
      try {
        const { path, mimeType, bytes } = await checkImage(
          image_path,
          folders(runtime, runtime.state),
          maxBytes,
        );
        const { sha256, size } = await runtime.blobs.put(bytes, mimeType);
        return {
          content: `${path} (${mimeType}, ${size} bytes) is shown to you next.`,
          events: [ImagesViewed({ images: { [path]: { mime_type: mimeType, size, sha256 } } })],
        };
      } catch (error) {
        if (!(error instanceof ImageNotViewableError || error instanceof PathNotAllowedError)) throw error;
        return { content: error.message, status: "error" as const };
      }
    },
  });
}

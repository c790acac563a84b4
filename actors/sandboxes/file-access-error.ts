/** Why a file could not be used, in words for the model. */
const reasons: Readonly<Record<string, string>> = {
  ENOENT: "does not exist. List its folder to see what is there",
  ENOTDIR: "has a file where a folder is needed. List the folder above it to see what is there",
  EISDIR: "is a folder, not a file. List it, or name a file in it",
  EACCES: "may not be opened. Choose another file",
  EPERM: "may not be opened. Choose another file",
  ENOSPC: "could not be written: the disk is full. Remove files or write less",
  EDQUOT: "could not be written: the disk quota is used up. Remove files or write less",
  EROFS: "could not be written: the disk is read-only",
  ENAMETOOLONG: "has a name that is too long. Choose a shorter one",
  ENOTFILE: "is a device, a socket or a pipe, not a file. Only plain files can be opened",
  EFBIG: "is too large to be loaded whole. Use a command to look at a part of it",
};

/** A file operation failed. The message holds the virtual path only; `code` is Node's error code where there is one. */
export class FileAccessError extends Error {
  override readonly name = "FileAccessError";
  constructor(
    /** Virtual path. */
    readonly path: string,
    readonly code: string,
  ) {
    super(`"${path}" ${reasons[code] ?? "could not be used"} (${code}).`);
  }
}

/** The same failure without host paths; other errors stay as they are. */
export function fileAccessError(path: string, error: unknown): unknown {
  const code = (error as { code?: unknown } | null)?.code;
  return typeof code === "string" && !(error instanceof FileAccessError)
    ? new FileAccessError(path, code)
    : error;
}

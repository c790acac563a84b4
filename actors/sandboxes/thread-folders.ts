import { createHash } from "node:crypto";
import { mkdir } from "node:fs/promises";
import { join, relative, resolve, sep } from "node:path";
import type { HookRuntime } from "../middleware/define-middleware.ts";
import type { ThreadFolders } from "./sandbox.ts";

/** Characters that a folder name keeps; capitals are encoded, since some file systems do not tell them apart. */
const safeName = /^[a-z0-9_-][a-z0-9._-]*$/;
const maxNameLength = 120;

/**
 * A name for a folder that no other id gets: safe ids stay as they are, other bytes become `%xx`, long ids end in a
 * digest. Never empty, never `.` or `..`, no separators.
 *
 * @example
 * encodeFolderName("../etc"); // "%2e%2e%2fetc"
 */
export function encodeFolderName(id: string): string {
  if (id.length <= maxNameLength && safeName.test(id)) return id;
  const encoded = [...Buffer.from(id, "utf8")]
    .map((byte, index) => {
      const character = String.fromCharCode(byte);
      const keep = /[a-z0-9_-]/.test(character) || (character === "." && index > 0);
      return keep ? character : `%${byte.toString(16).padStart(2, "0")}`;
    })
    .join("");
  if (encoded.length > 0 && encoded.length <= maxNameLength) return encoded;
  const digest = createHash("sha256").update(id).digest("hex").slice(0, 32);
  return `${encoded.slice(0, maxNameLength - 33)}~${digest}`;
}

/** Whose folders: a thread below a store's folder, in a user's part when the run has a user. */
export interface FolderOwner {
  readonly folder: string;
  readonly threadId: string;
  readonly userId?: string | undefined;
}

/**
 * Host folders of a thread: `<folder>[/users/<user>]/threads/<thread>/user-data/{workspace,uploads,outputs}`, absolute.
 * Creates nothing.
 *
 * @example
 * threadFolders({ folder: ".threadfold", threadId: "t1" }).outputs_path;
 */
export function threadFolders(owner: FolderOwner): ThreadFolders {
  const users = owner.userId ? ["users", encodeFolderName(owner.userId)] : [];
  const base = resolve(owner.folder, ...users, "threads", encodeFolderName(owner.threadId), "user-data");
  return {
    workspace_path: join(base, "workspace"),
    uploads_path: join(base, "uploads"),
    outputs_path: join(base, "outputs"),
  };
}

/** Makes the folders of a thread, with the folders above them. */
export async function createThreadFolders(folders: ThreadFolders): Promise<void> {
  const paths = [folders.workspace_path, folders.uploads_path, folders.outputs_path];
  await Promise.all(paths.map((path) => mkdir(path, { recursive: true })));
}

/** What is needed of a runtime to know a thread's folders. */
export type FolderRuntime = Pick<HookRuntime, "folder" | "threadId" | "context" | "configurable">;

/** Finds the folders of the thread that a hook or tool runs for. */
export type FoldersFor = (
  runtime: FolderRuntime,
  state?: { readonly [field: string]: unknown },
) => ThreadFolders;

/**
 * Folders of the running thread. A user id comes from `context.user_id`, else `configurable.user_id`, else from
 * `thread_data`, if that names this very thread below this store: a fork's inherited `thread_data` never counts.
 *
 * @example
 * const { outputs_path } = foldersOf(runtime, state);
 */
export function foldersOf(
  runtime: FolderRuntime,
  state?: { readonly [field: string]: unknown },
): ThreadFolders {
  const { folder, threadId } = runtime;
  const userId = runtime.context?.user_id ?? runtime.configurable?.user_id;
  if (typeof userId === "string" && userId !== "") return threadFolders({ folder, threadId, userId });
  const plain = threadFolders({ folder, threadId });
  return boundUserFolders(state?.thread_data, folder, threadId) ?? plain;
}

/** The folders in `thread_data`, if they are those of this thread in some user's part of this store. */
function boundUserFolders(data: unknown, folder: string, threadId: string): ThreadFolders | undefined {
  const workspace = (data as { workspace_path?: unknown } | null | undefined)?.workspace_path;
  if (typeof workspace !== "string") return undefined;
  const parts = relative(resolve(folder), workspace).split(sep);
  const [users, user, ...rest] = parts;
  if (users !== "users" || !user || user === ".." || parts.length !== 6) return undefined;
  const below = relative(resolve(folder), threadFolders({ folder, threadId }).workspace_path).split(sep);
  if (rest.join("/") !== below.join("/")) return undefined;
  const base = resolve(folder, "users", user, ...below.slice(0, -1));
  return {
    workspace_path: join(base, "workspace"),
    uploads_path: join(base, "uploads"),
    outputs_path: join(base, "outputs"),
  };
}

import { createHash } from "node:crypto";
import type { BlobStore } from "../../events/blobs/blob-store.ts";
import type { EventDraft } from "../../events/define-event.ts";
import { ToolOutputExternalized } from "../../events/tool.ts";
import type { Sandbox } from "../sandboxes/sandbox.ts";
import { virtualOutputs } from "../sandboxes/virtual-path.ts";

/** Tools whose output is a log. */
const logTools = new Set(["bash", "web_fetch"]);

/** Where a long result is kept, as the model reads it. */
export interface StoredOutput {
  /** Virtual path. */
  readonly path: string;
  readonly event: EventDraft;
}

/**
 * Writes a result where the thread's `read_file` finds it, and checks that it is there. The name follows from call and
 * text: a call that runs again after a crash writes the same file.
 */
export async function storeToolOutput(options: {
  readonly tool: string;
  readonly callId: string;
  readonly text: string;
  readonly folder: string;
  readonly files: Pick<Sandbox, "writeFile" | "stat">;
  readonly blobs: BlobStore;
}): Promise<StoredOutput> {
  const { tool, callId, text, folder, files, blobs } = options;
  const { sha256, size } = await blobs.put(text, "text/plain");
  const name = (tool.split(/[/\\]/).at(-1) ?? "").replace(/[^\w.-]/g, "_").replace(/^\.+/, "") || "tool";
  const digest = createHash("sha256").update(`${callId}\n${sha256}`).digest("hex").slice(0, 12);
  const path = `${virtualOutputs}/${folder}/${name}-${digest}${logTools.has(tool) ? ".log" : ".txt"}`;
  await files.writeFile(path, text);
  const there = await files.stat(path);
  if (there?.kind !== "file" || there.size !== size) {
    throw new ToolOutputNotStoredError(path);
  }
  return { path, event: ToolOutputExternalized({ callId, path, size, sha256 }) };
}

/** A long result was written and cannot be read back. */
export class ToolOutputNotStoredError extends Error {
  override readonly name = "ToolOutputNotStoredError";
  constructor(readonly path: string) {
    super(`"${path}" was written and is not there. The sandbox lost it; the result is cut instead.`);
  }
}

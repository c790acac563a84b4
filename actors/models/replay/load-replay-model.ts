import { readFile } from "node:fs/promises";
import { createMemoryBlobs } from "../../../events/blobs/memory.ts";
import { threadStream } from "../../../events/envelope.ts";
import { createEventRegistry } from "../../../events/event-registry.ts";
import { createMemoryLog } from "../../../events/log/memory.ts";
import type { Store } from "../../../events/store.ts";
import { UnknownThreadError } from "../../../projections/lineage.ts";
import { importText } from "../../../projections/thread-import.ts";
import { PositionSyntaxError, resolvePosition } from "../../../projections/thread-position.ts";
import { createThreadReducer } from "../../../reducers/built-in.ts";
import { loadLangChain } from "../../langchain.ts";
import { type RecordedCall, readRecordedCalls } from "./recorded-calls.ts";
import type { ReplayModel } from "./replay-model.ts";

/** There is no recording of this name. */
export class ReplaySourceError extends Error {
  override readonly name = "ReplaySourceError";
  constructor(
    readonly source: string,
    hasStore: boolean,
  ) {
    super(
      `"${source}" is neither a file nor a thread${hasStore ? " of the store" : " (no store is open)"}, so there is nothing to replay. Give an exported file, or the id of a thread.`,
    );
  }
}

const reading = () => ({
  registry: createEventRegistry(),
  reducer: createThreadReducer({ openFields: true }),
});

async function textOfFile(path: string): Promise<string | undefined> {
  try {
    return await readFile(path, "utf8");
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    if (code === "ENOENT" || code === "EISDIR" || code === "ENAMETOOLONG") return undefined;
    throw error;
  }
}

/**
 * Loads the recorded calls of an exported file (or a LangGraph thread state), or of a thread of the store up to a
 * position.
 *
 * @throws {ReplaySourceError} and what reading a file or thread throws
 * @example
 * const model = await loadReplayModel("thread.ndjson", undefined);
 */
export async function loadReplayModel(source: string, store: Store | undefined): Promise<ReplayModel> {
  await loadLangChain();
  const { ReplayModel } = await import("./replay-model.ts");
  const text = await textOfFile(source);
  if (text !== undefined) {
    const recording = { log: createMemoryLog(), blobs: createMemoryBlobs() };
    const { threads } = await importText(recording, text);
    const calls: RecordedCall[] = [];
    for (const { threadId, version } of threads) {
      calls.push(...(await readRecordedCalls(recording, reading(), threadStream(threadId), version)));
    }
    return new ReplayModel(source, calls, recording.blobs);
  }
  if (!store) throw new ReplaySourceError(source, false);
  try {
    const { stream, version } = await resolvePosition(store.log, source);
    return new ReplayModel(source, await readRecordedCalls(store, reading(), stream, version), store.blobs);
  } catch (error) {
    if (!(error instanceof UnknownThreadError || error instanceof PositionSyntaxError)) throw error;
    throw new ReplaySourceError(source, true);
  }
}

import type { BaseMessage } from "@langchain/core/messages";
import { z } from "zod";
import type { EventDraft } from "../../events/define-event.ts";
import { MessagesReplaced } from "../../events/messages.ts";
import { ThreadDataBound } from "../../events/thread-data.ts";
import { sameJson } from "../../reducers/same-json.ts";
import { threadData } from "../../reducers/thread-data.ts";
import { isInterruptRequest } from "../interrupt.ts";
import { HumanMessage } from "../langchain.ts";
import { toStored } from "../messages/to-stored.ts";
import { mintId } from "../mint-id.ts";
import { maskHostPaths } from "../sandboxes/mask-host-paths.ts";
import { createThreadFolders, type FoldersFor, foldersOf } from "../sandboxes/thread-folders.ts";
import type { ToolResult } from "../tools/define-tool.ts";
import { createMiddleware, type Middleware } from "./define-middleware.ts";
import {
  hasContent,
  mapCommandMessages,
  mapText,
  messageWithContent,
  withContent,
} from "./tool-call-result.ts";

/** Fields that hold host paths: they are for tools and middlewares; clients and models never get them. */
export const privateFields: readonly string[] = ["thread_data"];

export interface ThreadDataOptions {
  /** True (default): the folders are only named; false: they are made when a run begins. */
  readonly lazy?: boolean;
  /** The thread's host folders (a sub-agent works in its parent's). Default: below the store's folder. */
  readonly folders?: FoldersFor;
}

/**
 * Tells the thread's folders to tools and middlewares as `thread_data`, stamps the newest user message with run and
 * time, and keeps the folders' host paths out of tool results.
 *
 * @example
 * createAgent({ model, tools: fileTools(), middleware: [threadDataMiddleware(), sandboxMiddleware()] });
 */
export function threadDataMiddleware(options: ThreadDataOptions = {}): Middleware {
  const { lazy = true, folders = foldersOf } = options;
  return createMiddleware({
    name: "thread-data",
    contextSchema: z.object({ user_id: z.string().optional() }),
    events: [ThreadDataBound],
    reducers: [threadData],

    async beforeAgent(state, runtime) {
      const own = folders(runtime, state);
      if (!lazy) await createThreadFolders(own);
      const bound = sameJson(state.thread_data, own) ? [] : [ThreadDataBound({ ...own })];
      return [...bound, ...stamped(state.messages?.at(-1), runtime.runId)];
    },

    async wrapToolCall(request, handler) {
      const own = folders(request.runtime, request.state);
      const mask = (text: string) => maskHostPaths(text, own);
      try {
        const result = await handler(request);
        if (isInterruptRequest(result)) return result;
        if (!hasContent(result)) {
          return await mapCommandMessages(result, (message) => {
            const content = mapText(message.content as ToolResult["content"], mask);
            return content === message.content ? message : messageWithContent(message, content);
          });
        }
        const before = result.content as ToolResult["content"];
        const content = mapText(before, mask);
        return content === before ? result : withContent(result, content);
      } catch (error) {
        if (error instanceof Error) error.message = mask(error.message);
        throw error;
      }
    },
  });
}

/** The newest message, when a user wrote it, with the run that it started. */
function stamped(message: BaseMessage | undefined, runId: string): readonly EventDraft[] {
  if (!message || !HumanMessage.isInstance(message)) return [];
  if (message.additional_kwargs.run_id === runId) return [];
  const stored = toStored(message, mintId);
  const stamps = { run_id: runId, timestamp: new Date().toISOString() };
  return [
    MessagesReplaced({
      messages: [
        {
          ...stored,
          name: stored.name ?? "user-input",
          additional_kwargs: { ...stored.additional_kwargs, ...stamps },
        },
      ],
    }),
  ];
}

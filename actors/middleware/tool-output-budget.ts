import type { EventDraft } from "../../events/define-event.ts";
import { ToolOutputExternalized } from "../../events/tool.ts";
import { isInterruptRequest } from "../interrupt.ts";
import { ToolMessage } from "../langchain.ts";
import { createFolderFiles, type FolderFiles } from "../sandboxes/folder-files.ts";
import type { Sandbox } from "../sandboxes/sandbox.ts";
import { type FoldersFor, foldersOf } from "../sandboxes/thread-folders.ts";
import { recordedAnswers } from "../steps/recorded-answers.ts";
import type { ToolResult } from "../tools/define-tool.ts";
import { cutMiddle, headOf, tailOf } from "./cut-text.ts";
import { createMiddleware, type Middleware, type ToolCallRequest } from "./define-middleware.ts";
import {
  hasContent,
  mapCommandMessages,
  messageWithContent,
  withContent,
  withEvents,
} from "./tool-call-result.ts";
import {
  readToolOutputConfig,
  type ToolOutputConfig,
  type ToolOutputConfigInput,
} from "./tool-output-config.ts";
import { storeToolOutput } from "./tool-output-file.ts";

export interface ToolOutputBudgetOptions extends ToolOutputConfigInput {
  /** The thread's host folders. Default: below the store's folder. */
  readonly folders?: FoldersFor;
}

/**
 * Keeps tool results short: what is longer than its threshold goes to a file in the thread's outputs, recorded as
 * `ToolOutputExternalized`, and the message keeps a preview that names the file. Without a place for files, and in what
 * the model is shown of earlier results, a very long result is cut.
 *
 * List it after `sandboxMiddleware` when the sandbox does not work on the host's folders: then files are written through
 * the sandbox, where `read_file` finds them.
 *
 * @throws {ToolOutputConfigError} when a value is out of range
 * @example
 * createAgent({ model, middleware: [toolOutputBudgetMiddleware({ tool_overrides: { bash: 4_000 } }), …] });
 */
export function toolOutputBudgetMiddleware(options: ToolOutputBudgetOptions = {}): Middleware {
  const { folders = foldersOf, ...given } = options;
  const config = readToolOutputConfig(given);
  if (!config.enabled) return createMiddleware({ name: "tool-output-budget" });

  /** Stores a text, or gives undefined: a full disk or a lost sandbox must not cost the result. */
  const store = async (request: ToolCallRequest, text: string) => {
    // What a rerun does not find in the log could not be stored then.
    if (recordedAnswers()) return undefined;
    const { toolCall, runtime, state } = request;
    try {
      const files = await placeFor(request, () => createFolderFiles(folders(runtime, state)));
      if (!files) return undefined;
      const { name: tool, id: callId } = toolCall;
      const { blobs } = runtime;
      return await storeToolOutput({ tool, callId, text, files, folder: config.storage_folder, blobs });
    } catch {
      return undefined;
    }
  };

  return createMiddleware({
    name: "tool-output-budget",
    external: true,
    events: [ToolOutputExternalized],

    async wrapToolCall(request, handler) {
      const result = await handler(request);
      if (isInterruptRequest(result)) return result;
      const { id, name } = request.toolCall;
      const events: EventDraft[] = [];
      const shorten = async (text: string | undefined): Promise<string | undefined> => {
        const threshold = thresholdOf(config, name);
        if (text === undefined || threshold === undefined || text.length <= threshold) return undefined;
        const stored = await store(request, text);
        if (!stored) return text.length > config.fallback_max ? cut(config, text) : undefined;
        events.push(stored.event);
        return preview(config, name, text, stored.path);
      };
      if (hasContent(result)) {
        const content = await shorten(plainText(result.content as ToolResult["content"]));
        return content === undefined ? result : withEvents(withContent(result, content), id, events);
      }
      const command = await mapCommandMessages(result, async (message) => {
        const content = await shorten(plainText(message.content as ToolResult["content"]));
        return content === undefined ? message : messageWithContent(message, content);
      });
      return withEvents(command, id, events);
    },

    wrapModelCall(request, handler) {
      const { messages } = request;
      if (!messages.some((message) => cutForModel(config, message) !== message)) return handler(request);
      return handler({ ...request, messages: messages.map((message) => cutForModel(config, message)) });
    },
  });
}

/** Characters above which a tool's result goes to a file; undefined: never. */
function thresholdOf(config: ToolOutputConfig, tool: string): number | undefined {
  if (config.exempt_tools.includes(tool)) return undefined;
  const own = Object.hasOwn(config.tool_overrides, tool) ? config.tool_overrides[tool] : undefined;
  return (own ?? config.externalize_above) || undefined;
}

/** The text of content that is nothing but text; undefined for content with pictures and the like. */
function plainText(content: ToolResult["content"]): string | undefined {
  if (typeof content === "string") return content;
  const texts = content.map((part) => {
    if (typeof part === "string") return part;
    return part.type === "text" && typeof part.text === "string" ? part.text : undefined;
  });
  return texts.includes(undefined) ? undefined : texts.join("\n");
}

/** The thread's sandbox, when tools get one around this middleware; else its host folders, when they are known. */
async function placeFor(
  { runtime, state }: ToolCallRequest,
  hostFolders: () => FolderFiles,
): Promise<Pick<Sandbox, "writeFile" | "stat"> | undefined> {
  if (runtime.sandbox) return runtime.sandbox();
  return state.thread_data == null ? undefined : hostFolders();
}

function preview(config: ToolOutputConfig, tool: string, text: string, path: string): string {
  const head = headOf(text, config.preview_head);
  const tail = tailOf(text, Math.min(config.preview_tail, text.length - head.length));
  const left = text.length - head.length - tail.length;
  return [
    `[${tool} gave ${text.length} characters. All of them are in ${path}: read that file for what is left out here.]`,
    ...(head === "" ? [] : [head]),
    `[${left} characters are left out here]`,
    ...(tail === "" ? [] : [tail]),
  ].join("\n");
}

function cut(config: ToolOutputConfig, text: string): string {
  return cutMiddle(text, { head: config.fallback_head, tail: config.fallback_tail }, config.fallback_max);
}

/** An earlier result as the model is shown it; the message itself when it is short enough. */
function cutForModel<Message>(config: ToolOutputConfig, message: Message): Message | ToolMessage {
  if (!ToolMessage.isInstance(message)) return message;
  const text = plainText(message.content as ToolResult["content"]);
  if (text === undefined || text.length <= config.fallback_max) return message;
  if (thresholdOf(config, message.name ?? "") === undefined) return message;
  return messageWithContent(message, cut(config, text));
}
